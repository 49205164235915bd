#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# More descriptors that cannot be closed than the service can have: test-starve.c, with the rights
# of its unit.

. "$(dirname "$0")/../lib.sh"
need_root
need_btf
need_bus
need_command setpriv prlimit
[ -w /dev/fuse ] || skip "no FUSE"

export KYMOD_GROUP=65534
start_bus
open_bus_to_all
remember_bpf
mkdir "$TMP/mount"
export KYMOD_PID KYMO_TEST_MOUNT=$TMP/mount

# starve [kill]: runs these cases with a daemon, which they end. The bus name is free for the next
# daemon.
starve() {
	local status=0

	# (524288 in the unit, which takes a while longer)
	start_kymod prlimit --nofile=4096:4096 setpriv --bounding-set="-all,$(unit_capabilities kymod)" --no-new-privs
	timeout -k 1 "$(limit 100)" "$KYMO_TEST_STARVE" "$@" || status=$?
	[ $status != 77 ] || skip "no file system can be mounted"
	[ $status = 0 ] || cat "$TMP/kymod.log" >&2
	assert_eq "$status" 0 "exit status of test-starve"
	assert_says "$TMP/kymod.log" 'files from user 1 are refused' "journal of kymod"
	ended=0
	wait "$KYMOD_PID" || ended=$?
}

starve
assert_eq "$ended" 0 "exit status of kymod, which the test has ended"
starve kill
assert_eq "$ended" 137 "exit status of kymod, which the test has killed"
no_bpf_left "the service"
