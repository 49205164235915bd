#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kymo top through the service.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus

start_bus
start_kymod
remember_bpf


"$STACK_LOAD" chain 60000 >/dev/null &
load=$!
expect_soon 5 grep -qx stack-load "/proc/$load/comm"
expect_recorded - timeout "$(limit 60)" "$KYMO" top --bus "$BUS" --json -n 8 -i 500ms -F 199
assert_eq "$(wc -l <"$TMP/stdout")" 8 "lines of -n 8"
holds "$TMP/stdout" 'any(.[].functions[]; .process == "stack-load" and .name == "leaf_a")' -s ||
	fail "the function of the load is not named"
# The cost of the recording itself is shown.
holds "$TMP/stdout" 'any(.[].processes[]; .pid == '"$KYMOD_PID"')' -s || fail "the service is not seen"
expect_soon 5 has_no_sessions

# Meanwhile, all users can see the session of `kymo top`. It ends with the command, even if the
# command is killed.
rm -f "$TMP/top.json"
"$KYMO" top --bus "$BUS" --json >"$TMP/top.json" 2>"$TMP/stderr" &
pid=$!
expect_soon 20 test -s "$TMP/top.json"
# (the command can show data before all programs are attached)
expect_soon 20 session_is_running "top_$pid"
kill -KILL $pid
expect_soon 10 has_no_sessions

# A client that does not read delays nothing. Records are lost, and the loss is reported.
rm -f "$TMP/top.json"
"$KYMO" top --bus "$BUS" --json -b 64K -i 200ms >"$TMP/top.json" 2>"$TMP/stderr" &
pid=$!
expect_soon 20 test -s "$TMP/top.json"
kill -STOP $pid
"$KYMO_LOAD" pingpong 100000000 >/dev/null &
pingpong=$!
has_lost() {
	"$KYMO" status --json "top_$pid" --bus "$BUS" | holds - '.[0].lost.sched > 0'
}
expect_soon 60 has_lost
kill -CONT $pid
is_reported() {
	holds "$TMP/top.json" 'any(.[]; .lost.sched > 0) and .[-1].lost_so_far > 0' -s
}
expect_soon 60 is_reported
kill $pingpong
kill -INT $pid
status=0
wait $pid || status=$?
assert_eq $status 3 "exit status after a loss"
assert_contains "$TMP/stderr" 'lost [0-9]+ sched events' "the message about the loss"

# The service ends: the view shows the last data and ends, too.
rm -f "$TMP/top.json"
"$KYMO" top --bus "$BUS" --json >"$TMP/top.json" 2>"$TMP/stderr" &
pid=$!
expect_soon 20 test -s "$TMP/top.json"
stop_kymod
expect_soon 20 has_ended $pid
kill $load
no_bpf_left "the service"

# Without a service, there is an error if one was required.
expect_exit 1 "$KYMO" top --bus "$BUS" -n 1
assert_contains "$TMP/stderr" '^kymo top: ' "complaint"
