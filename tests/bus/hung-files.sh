#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Files on a file system that never answers delay only the user who passes them: test-hung-files.c,
# with real recordings.

. "$(dirname "$0")/../lib.sh"
need_root
need_btf
need_bus
[ -w /dev/fuse ] || skip "no FUSE"

need_command setpriv
need_command prlimit

# hung WHICH [COMMAND ...]: runs these cases with a daemon that has the capabilities of its unit,
# and that COMMAND starts.
hung() {
	local status=0

	note "${1:-a file system for everybody}"
	start_kymod "${@:2}" setpriv --bounding-set="-all,$(unit_capabilities kymod)" --no-new-privs
	mkdir -p "$TMP/mount"
	export KYMOD_PID KYMO_TEST_MOUNT=$TMP/mount
	# (a hanging daemon ends only with the file system, which is this test)
	timeout -k 1 "$(limit 120)" "$KYMO_TEST_HUNG_FILES" "${@:1:1}" || status=$?
	[ $status != 77 ] || skip "no file system can be mounted"
	assert_eq "$status" 0 "exit status of test-hung-files"
}

export KYMOD_GROUP=65534
# (the socket of programs that write events of their own)
export KYMO_PROVIDER_DIR=$TMP/run
# (otherwise, the policy of the bus would reject most of these messages)
export KYMO_TEST_NO_POLICY=yes
start_bus
open_bus_to_all
hung private
stop_kymod
hung member
stop_kymod
# With few descriptors, few of a user that cannot be closed are too many.
hung programs prlimit --nofile=4096:4096
stop_kymod
hung kill
# (the next one finds the name free)
status=0
wait "$KYMOD_PID" || status=$?
assert_eq "$status" 137 "exit status of kymod, which the test has killed"
hung
status=0
wait "$KYMOD_PID" || status=$?
assert_eq "$status" 0 "exit status of kymod, which the test has ended"
