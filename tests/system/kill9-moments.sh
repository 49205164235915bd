#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Kills at 65 random moments: 50 recorders, five at a time, one of them at its start, and three
# services with five sessions each. All data in a file can be read, because pieces are written
# completely, compressed or not. (kill9 is about what is missing.)

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
start_bus

# A constant load.
"$KYMO_LOAD" sleep 1000000 200 &
napper=$!

ways=("-e sched" "-e sched --compress=zstd" "-e sched,irq" "-e sched --compress=snappy" "-e sched,offcpu")

# check_rest FILE
check_rest() {
	[ -s "$1" ] || return 0 # it had written nothing yet
	n_files=$((n_files + 1))
	expect_checked "$1"
	holds "$TMP/stdout" '.cut_off and .errors == (if .truncated then 1 else 0 end)' ||
		fail "$1: errors other than a cut tail: $(cat "$TMP/stdout")"
}

# sleep_random: sleeps for up to 0.3 s
sleep_random() {
	sleep "0.$((RANDOM % 3))$((RANDOM % 10))$((RANDOM % 10))"
}

# record_and_kill NUMBER: kills the recorder after it has written something, and the first one at
# any time. One that has not begun in time is killed, too, and counted.
record_and_kill() {
	local pid

	# shellcheck disable=SC2086 # words
	"$KYMO" record --direct --flush 20ms ${ways[$1]} -o "$TMP/rest.$1" 2>"$TMP/rest.$1.log" &
	pid=$!
	[ "$1" = 0 ] || wait_for 10 test -s "$TMP/rest.$1" || echo "$1" >>"$TMP/slow"
	sleep_random
	kill -9 $pid
	wait $pid
}

all_begun() {
	local i

	for i in {1..4}; do
		[ -s "$TMP/rest.$i" ] || return 1
	done
}

remember_bpf
: >"$TMP/slow"
n_files=0
for _ in {1..10}; do
	rm -f "$TMP"/rest.*
	recorders=()
	for i in {0..4}; do
		(record_and_kill "$i") 2>/dev/null &
		recorders+=($!)
	done
	wait "${recorders[@]}" || true
	for i in {0..4}; do
		check_rest "$TMP/rest.$i"
	done
done
for _ in {1..3}; do
	start_kymod
	rm -f "$TMP"/rest.*
	for i in {0..4}; do
		# shellcheck disable=SC2086 # words
		"$KYMO" start "rest$i" --flush 20ms ${ways[i]} -o "$TMP/rest.$i" --bus "$BUS" >"$TMP/rest.$i.log" 2>&1 &
	done
	wait_for 20 all_begun || fail "no session began: $(cat "$TMP"/rest.*.log)"
	sleep_random
	kill -9 "$KYMOD_PID"
	wait "$KYMOD_PID" 2>/dev/null || true
	for i in {0..4}; do
		check_rest "$TMP/rest.$i"
	done
done
assert_ge "$n_files" 39 "files in which there was something"
note "$n_files of 65 had written something; begun too late: $(wc -l <"$TMP/slow")"
no_bpf_left "65 times kill -9"
kill $napper
