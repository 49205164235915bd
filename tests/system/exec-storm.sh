#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A watched process executes other programs thousands of times: all of them are reported, in an
# order that can be read, within bounded time. If there is no room to report their ends, the missing
# ones are reported, and nothing waits for them.

. "$(dirname "$0")/../lib.sh"
need_btf

# check_storm FILE N: checks the watches of N reported programs of one process
check_storm() {
	expect_exit 0 "$KYMO" check --json "$1"
	assert_eq "$(json "$TMP/stdout" '"\(.errors) \(.cut_off)"')" "0 false" "the answer of check about $1"
	dump_records "$1"
	# Watches of one process follow one another.
	grep -E '"watch(ed)?"' "$DUMP" |
		gojq -r 'select(.record == "event" and (.name == "watch" or .name == "watched")) | [.name, .process_id] | @tsv' >"$TMP/order"
	awk '$1 != (n[$2]++ % 2 ? "watched" : "watch") { print NR ": " $0; exit 1 }' "$TMP/order" ||
		fail "watches of one process are mixed up in $1"
	n_told=$(grep -c '^watched' "$TMP/order")
}

# All of them, as fast as they can: the worker keeps up, and each has left its block.
record_around "$TMP/all.fxt" -e memory -- "$EXEC_LOAD" 4500
check_storm "$TMP/all.fxt"
summarize "$TMP/all.fxt"
n_blocks=$(events block | gojq -s 'map(select(.args.size == 117)) | length')
note "$n_told programs, $n_blocks blocks, $(lost_total) events lost"
# (and the program that forked the command)
assert_ge "$n_told" 4502 "programs of which something is said"
assert_ge "$n_blocks" 4501 "blocks of those programs"

# More programs than the table can hold while it is not read.
mkfifo "$TMP/go"
exec {go}<>"$TMP/go"
bash -c 'read -r _ && exec "$0" 5500' "$EXEC_LOAD" <"$TMP/go" &
load=$!
"$KYMO" record --direct -e memory -p $load -o "$TMP/lost.fxt" 2>"$TMP/record.log" &
recorder=$!
is_watched() {
	"$KYMO" dump "$TMP/lost.fxt" 2>/dev/null | grep 'memory:watch ' >/dev/null
}
expect_soon 20 is_watched
kill -STOP $recorder
echo >&"$go"
wait $load || fail "the load failed"
kill -CONT $recorder
# (it ends with the selected process)
expect_soon 30 has_ended $recorder
status=0
wait $recorder || status=$?
assert_eq $status 3 "exit status of a recording with losses"
check_storm "$TMP/lost.fxt"
summarize "$TMP/lost.fxt"
cpu=$(json "$SUMMARY" '.daemon_cpu_ns / 1e9 | floor')
assert_le "$cpu" 10 "CPU seconds of the recorder"
note "$n_told programs are told of, $(json "$SUMMARY" '.lost.memory // 0') had no room, $cpu s of CPU time"
assert_ge "$(json "$SUMMARY" '.lost.memory // 0')" 1000 "programs that are said to be lost"
assert_ge "$n_told" 4000 "programs that are told of"

# A program without a report does not delay the end either: `leaks` ends like any recording.
expect_exit 0 timeout -s KILL "$(limit 60)" "$KYMO" leaks --direct -- "$EXEC_LOAD" 500
