#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tiny rings of softirqs and work items, and a reader that is stopped for a while: the missing
# records are counted, class by class, at their places. A parallel session with large rings is the
# witness.

. "$(dirname "$0")/../lib.sh"
need_btf
wait_for_others work-items
need_bus
start_bus
start_kymod

cpu=$(last_cpu) items=3000
start_held packets --cpu "$cpu" loopback 20000
start_held items refresh $items
for name in tiny large; do
	size=64K
	[ $name = tiny ] || size=32M
	expect_exit 0 "$KYMO" start $name -o "$TMP/$name.fxt" -e softirq,workqueue -b $size --bus "$BUS"
	expect_soon 5 session_is_running $name
done
# The rings are not read while the daemon is stopped.
kill -STOP "$KYMOD_PID"
begin_held packets
begin_held items
wait_held packets
wait_held items
kill -CONT "$KYMOD_PID"
sleep 0.5
expect_exit 0 "$KYMO" stop large --bus "$BUS"
expect_exit 3 "$KYMO" stop tiny --bus "$BUS"
assert_contains "$TMP/stderr" 'lost [0-9]+ softirq events' "the message of stop"
assert_contains "$TMP/stderr" 'lost [0-9]+ workqueue events' "the message of stop"
end_held packets
end_held items

# refreshed: prints the number of queued work items in the last `summarize`
refreshed() {
	json "$SUMMARY" '[.activity.workqueue[] | select(.name == "refresh_vm_stats") | .count] | add // 0'
}
all_items() {
	json "$SUMMARY" '[.activity.workqueue[].count] | add // 0'
}
lost() {
	json "$SUMMARY" ".lost.$1 // 0"
}

summarize "$TMP/large.fxt"
assert_no_loss
expected=$(json "$TMP/items.json" .items)
assert_eq "$(refreshed)" "$expected" "work items that the witness has"
others=$(($(all_items) - expected))
summarize "$TMP/tiny.fxt"
note "tiny: $(refreshed) of $expected work items, $(lost workqueue) lost; $(lost softirq) softirqs lost"
for class in softirq workqueue; do
	assert_ge "$(lost $class)" 500 "lost records of class $class"
done
for class in sched lifecycle irq idle frequency; do
	assert_eq "$(lost $class)" 0 "lost records of class $class"
done
# Each missing record is counted. The count can also include work items that the test has not
# queued.
assert_ge $(($(refreshed) + $(lost workqueue))) "$expected" "work items recorded and lost"
assert_le $(($(refreshed) + $(lost workqueue))) $((expected + others)) "work items recorded and lost"

# Softirqs: in a gap of a CPU, the tiny session has none, and the witness as many as were counted.
# Each program reads the clock itself, so the numbers can differ by one at either end.
dump_records "$TMP/tiny.fxt"
expect_exit 0 "$KYMO" check "$TMP/tiny.fxt"
events lost | gojq -r 'select(.event_type == "instant" and .args.class == "softirq") | .args |
	[.cpu, .first, .last, .count] | @tsv' >"$TMP/gaps"
assert_eq "$(awk '{ n += $4 } END { print n + 0 }' "$TMP/gaps")" "$(lost softirq)" "sum of the marks"
# ends: CPU and end of each softirq in the last `dump_records`
ends() {
	grep -F '"duration_complete"' "$DUMP" | gojq -r 'select(.category == "softirq") |
		[.thread_id - 4521985, .end_time_ns] | @tsv'
}
# in_gaps: for each gap, its count and the number of softirqs that end in it
in_gaps() {
	awk 'NR == FNR { cpu[NR] = $1; first[NR] = $2; last[NR] = $3; count[NR] = $4; n = NR; next }
		{ for (i = 1; i <= n; i++) if ($1 == cpu[i] && $2 > first[i] && $2 < last[i]) found[i]++ }
		END { for (i = 1; i <= n; i++) print count[i], found[i] + 0 }' "$TMP/gaps" <(ends)
}
assert_eq "$(in_gaps | awk '{ n += $2 } END { print n + 0 }')" 0 "softirqs inside the gaps"
dump_records "$TMP/large.fxt"
in_gaps >"$TMP/counts"
awk '{ d = $1 - $2; if (d < -2 || d > 2) print }' "$TMP/counts" >"$TMP/wrong"
assert_empty "$TMP/wrong" "gaps (count, softirqs of the witness) that were counted wrongly"
stop_kymod
