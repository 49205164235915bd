#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A recorder is killed in the middle: the file is complete up to the last flush, and nothing is left
# in the kernel.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../killed-words.sh"
need_btf
need_bus
start_bus

flush_ms=250
# From the reading of the rings until the data is in the file. On a busy machine, writing takes some
# time.
slack_ms=100

# check_cut FILE: checks FILE, with a kill between BEFORE and AFTER
check_cut() {
	check_killed "$1" "$BEFORE"
	note "$MISSING_MS ms before the kill are missing"
	assert_le "$LAST" "$AFTER" "time of the last record"
	assert_eq "$(events session_stop | wc -l)" 0 "session_stop events"
	assert_ge "$(json "$SUMMARY" .events.switch)" 500 "switches"
}

# kill9 PID: sets BEFORE and AFTER, CLOCK_BOOTTIME ns
kill9() {
	BEFORE=$(boottime)
	kill -9 "$1"
	wait "$1" 2>/dev/null || true
	AFTER=$(boottime)
}

# A constant load.
"$KYMO_LOAD" sleep 1000000 200 &
napper=$!

# sleep_a_while: two to four flushes, and a random part of one
sleep_a_while() {
	sleep "0.$((500 + RANDOM % 500))"
}

kill_service() {
	remember_bpf
	start_kymod
	rm -f "$TMP/daemon.fxt"
	expect_exit 0 "$KYMO" start doomed -o "$TMP/daemon.fxt" --bus "$BUS"
	sleep_a_while
	kill9 "$KYMOD_PID"
	check_cut "$TMP/daemon.fxt"
	no_bpf_left "kill -9 of kymod"
}

kill_recorder() {
	local pid

	remember_bpf
	rm -f "$TMP/direct.fxt"
	"$KYMO" record --direct -o "$TMP/direct.fxt" 2>"$TMP/direct.log" &
	pid=$!
	expect_soon 10 test -s "$TMP/direct.fxt"
	sleep_a_while
	kill9 $pid
	check_cut "$TMP/direct.fxt"
	no_bpf_left "kill -9 of kymo record --direct"
}

for _ in 1 2; do
	missing_at_most $((flush_ms + slack_ms)) kill_service
	missing_at_most $((flush_ms + slack_ms)) kill_recorder
done
kill $napper
