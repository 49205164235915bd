#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# If a recorder is killed with all its processes and leaves breakpoints, the next one removes them,
# by the journal. Also tests the guards, which make this case rare, and the removal by the end of
# processes, which no kill interrupts.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../killed-words.sh"
need_btf
need_bus
remember_bpf
start_bus
export RUNTIME_DIRECTORY=$TMP/run
mkdir "$TMP/run"

# start_program: starts a sleeping program with its own file. Its pid is in $program.
start_program() {
	rm -f "$TMP/program" # one may run
	cp "$(command -v sleep)" "$TMP/program"
	"$TMP/program" infinity &
	program=$!
	expect_soon 5 is_asleep "$program"
}
patched() {
	"$MEMORY_LOAD" patched "$program"
}
is_whole() {
	[ "$(patched)" = 0 ]
}
no_journal() {
	[ -z "$(ls -I removals "$RUNTIME_DIRECTORY/probes")" ]
}
leave_some() {
	expect_exit 0 "$LEAVE_PROBES" journal "$program"
	left=$(cat "$TMP/stdout")
	[ "$left" -gt 0 ] || skip "the kernel leaves no breakpoints when a process is killed that detaches"
	assert_eq "$(patched)" "$left" "bytes that are not those of the file"
	! no_journal || fail "there is no journal"
}

note "the service takes them out when it starts"
start_program
leave_some
# Another killed recorder had probes in the same file.
cp -p "$(find "$RUNTIME_DIRECTORY/probes" -type f -name "[0-9]*" | sed -n 1p)" "$RUNTIME_DIRECTORY/probes/4-other"
# These journals are not from a killed recorder.
echo garbage >"$RUNTIME_DIRECTORY/probes/1-garbage"
ln -s /etc/passwd "$RUNTIME_DIRECTORY/probes/2-link"
mkfifo -m 600 "$RUNTIME_DIRECTORY/probes/3-fifo"
start_kymod
expect_soon 10 is_whole
expect_soon 5 grep -q "removed $left breakpoints .*/program'" "$TMP/kymod.log"
assert_eq "$(grep -c removed "$TMP/kymod.log")" 1 "lines about one file"
assert_eq "$(ls -I removals "$RUNTIME_DIRECTORY/probes")" $'1-garbage\n2-link\n3-fifo' "the remains of journals"
rm "$RUNTIME_DIRECTORY"/probes/*
stop_kymod

note "of a file that is there no more, in another mount namespace, by a recording without the service"
if unshare -m true 2>/dev/null; then
	mkdir "$TMP/room"
	cp "$(command -v sleep)" "$TMP/room-program"
	unshare -m bash -c 'mount -t tmpfs none "$0/room" && cp "$0/room-program" "$0/room/program" && exec "$0/room/program" infinity' "$TMP" &
	program=$!
	expect_soon 5 grep -q '^Name:.program' "/proc/$program/status"
	expect_soon 5 is_asleep "$program"
	leave_some
	rm -f "/proc/$program/root$TMP/room/program"
	# (3: too short for a watch)
	expect_exit "0|3" "$KYMO" record --direct -e memory -d 100ms -p $$ -o "$TMP/t.fxt"
	expect_soon 10 is_whole
	expect_soon 5 no_journal
fi

note "a journal whose file nobody has mapped any more"
start_program
leave_some
kill -KILL "$program"
wait "$program" 2>/dev/null || true
start_kymod
expect_soon 10 no_journal
assert_empty "$TMP/kymod.log"
stop_kymod

note "with guards nothing stays"
start_program
expect_exit 0 "$LEAVE_PROBES" guards "$program"
assert_eq "$(cat "$TMP/stdout")" 0 "breakpoints left in spite of guards"
assert_eq "$(patched)" 0 "bytes that are not those of the file"
rm -f "$TMP"/run/probes/*

note "a removal is not interrupted"
remember_kernel_log
expect_exit 0 "$LEAVE_PROBES" free "$program"
assert_eq "$(cat "$TMP/stdout")" 0 "breakpoints left by an attacher that is killed"
assert_eq "$(patched)" 0 "bytes that are not those of the file"
no_probe_data_left "a removal by the end of processes"

note "and nothing of this test"
kill "$program"
no_bpf_left
