#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Files whose file system never answers hold up nobody but who passes them: test-hung-files.c, with real recordings.

. "$(dirname "$0")/../lib.sh"
need_root
need_btf
need_bus
[ -w /dev/fuse ] || skip "no FUSE"

start_bus
start_kymod
open_bus_to_all
status=0
mkdir "$TMP/mount"
export KYMOD_PID KYMO_TEST_MOUNT=$TMP/mount
# (a daemon that hangs there ends only with the file system, which is the test)
timeout -k 1 240 "$KYMO_TEST_HUNG_FILES" || status=$?
[ $status != 77 ] || skip "no file system can be mounted"
assert_eq "$status" 0 "exit status of test-hung-files"
stop_kymod
