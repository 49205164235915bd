#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Triggers: a thread that waits for a CPU which a realtime thread holds, and one that is blocked for long. The event is in the
# archive at that moment, names the thread, and its value is what the schedule says.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command chrt
remember_bpf
cpu=$(last_cpu)
chrt -f 50 true 2>/dev/null || skip "no realtime priority is to be had"

# trigger KIND: those of the last dump_records
triggers() {
	events trigger | jq -c --arg kind "$1" 'select(.args.reason == $kind)'
}

# ---- a wakeup that waits ----

# It naps for a millisecond again and again; the hog holds its CPU for 0.3 s.
start_held napper --cpu "$cpu" sleep 900 1000
"$KYMO" record --direct -e sched -p "${HELD[napper]}" --trigger wakeup=150ms,offcpu=10s -o "$TMP/t.fxt" 2>"$TMP/log" &
recorder=$!
expect_soon 10 test -s "$TMP/t.fxt"
begin_held napper
sleep 0.3
chrt -f 50 "$KYMO_LOAD" --cpu "$cpu" spin 300 >/dev/null
wait_held napper
kill -INT $recorder
wait $recorder || fail "exit status $?: $(cat "$TMP/log")"
end_held napper
tid=$(json "$TMP/napper.json" .napper.tid)

expect_exit 0 "$KYMO" check "$TMP/t.fxt"
summarize "$TMP/t.fxt"
dump_records "$TMP/t.fxt"
triggers wakeup >"$TMP/wakeup.json"
assert_eq "$(wc -l <"$TMP/wakeup.json")" 1 "triggers"
assert_eq "$(json "$TMP/wakeup.json" .args.thread)" "$tid" "the thread"
assert_eq "$(json "$TMP/wakeup.json" .args.limit)" 150000000 "the limit"
value=$(json "$TMP/wakeup.json" .args.value)
assert_ge "$value" 150000000 "how long it waited"
assert_le "$value" "$(thread "$tid" max_wakeup_latency_ns)" "how long it waited, and the longest wait"
# It is at the switch that ended the wait.
when=$(json "$TMP/wakeup.json" .timestamp_ns)
switches >"$TMP/switches"
awk -v tid="$tid" -v when="$when" '$4 == tid && $1 == when { found = 1 } END { exit !found }' "$TMP/switches" ||
	fail "$tid was not switched in at $when"
assert_eq "$(triggers offcpu | wc -l)" 0 "triggers on times off CPU"
assert_contains <("$KYMO" summary "$TMP/t.fxt") '^  wakeup +[0-9]+ times, the worst ' "summary"

# ---- a thread that is blocked, again and again ----

start_held sleeper sleep 5 250000
"$KYMO" record --direct -e sched -p "${HELD[sleeper]}" --trigger offcpu=200ms,interval=600ms -o "$TMP/o.fxt" 2>"$TMP/log" &
recorder=$!
expect_soon 10 test -s "$TMP/o.fxt"
begin_held sleeper
wait_held sleeper
kill -INT $recorder
wait $recorder || fail "exit status $?: $(cat "$TMP/log")"
end_held sleeper
tid=$(json "$TMP/sleeper.json" .napper.tid)

dump_records "$TMP/o.fxt"
triggers offcpu | jq -c --argjson tid "$tid" 'select(.args.thread == $tid)' >"$TMP/offcpu.json"
n=$(wc -l <"$TMP/offcpu.json")
# Of five (and the wait for the beginning) not all: those between are counted.
assert_ge "$n" 1 "triggers that were told of"
assert_ge "$(jq -s 'map(.args.count) | add' "$TMP/offcpu.json")" "$((n + 1))" "triggers that were counted"
assert_eq "$(jq -s 'map(select(.args.value < 200000000)) | length' "$TMP/offcpu.json")" 0 "too short"
jq -s -e '[.[].timestamp_ns] | . as $t | all(range(1; length); $t[.] - $t[. - 1] >= 600000000)' "$TMP/offcpu.json" >/dev/null ||
	fail "more often than each 600 ms: $(cat "$TMP/offcpu.json")"

# Without a filter sleep that was meant is none.
record_around "$TMP/all.fxt" -e sched --trigger offcpu=100ms -- "$KYMO_LOAD" sleep 3 150000
dump_records "$TMP/all.fxt"
load=$(grep -F '"kymo-load"' "$DUMP" | jq -r 'select(.record == "kernel_object" and .name == "kymo-load") | .koid' | head -1)
assert_eq "$(triggers offcpu | jq -c --argjson tid "${load:-0}" 'select(.args.thread == $tid)' | wc -l)" 0 \
	"triggers by sleep that was meant"
no_bpf_left "recordings with triggers"
