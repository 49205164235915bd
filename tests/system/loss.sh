#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A tiny ring and a reader that is stopped for a while: the missing records are counted exactly, at
# their places, and reported everywhere. A parallel session with a large ring is the witness.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
start_bus
start_kymod

cpu=$(last_cpu)
start_held game --cpu "$cpu" pingpong 40000
for name in tiny large; do
	size=64K
	[ $name = tiny ] || size=32M
	expect_exit 0 "$KYMO" start $name -o "$TMP/$name.fxt" -b $size -p "${HELD[game]}" --bus "$BUS"
done
# Three gaps: the rings are not read while the daemon is stopped.
begin_held game
for _ in 1 2 3; do
	kill -STOP "$KYMOD_PID"
	sleep 0.03
	kill -CONT "$KYMOD_PID"
	sleep 0.03
done
wait_held game
expect_exit 0 "$KYMO" stop large --bus "$BUS"
expect_exit 3 "$KYMO" stop tiny --bus "$BUS"
end_held game

# of FILE: prints the number of records of class sched that left the rings, and of lost ones. The
# lost ones include wakeups that are not real (dismissed), because a program whose ring is full
# cannot distinguish them.
of() {
	summarize "$1"
	recorded=$(json "$SUMMARY" '(.events | .switch + .wakeup + .migrate) + .dismissed')
	lost=$(json "$SUMMARY" '.lost.sched // 0')
}
of "$TMP/large.fxt"
assert_no_loss
all=$recorded
of "$TMP/tiny.fxt"
note "$all records; with a tiny ring $recorded, and $lost counted as lost"
assert_ge "$lost" 1000 "records lost"
assert_eq $((recorded + lost)) "$all" "recorded and lost"
assert_eq "$(json "$SUMMARY" '.lost.lifecycle // 0')" 0 "lifecycle records lost"

# Every verb reports it.
expect_exit 3 "$KYMO" summary "$TMP/tiny.fxt"
assert_contains "$TMP/stderr" "$lost .*lost" "summary"
expect_exit 0 "$KYMO" check "$TMP/tiny.fxt"
dump_records "$TMP/tiny.fxt"
events lost | gojq -s 'map(select(.event_type == "instant" and .args.class == "sched"))' \
	>"$TMP/gaps.json"
assert_eq "$(gojq 'map(.args.count) | add' "$TMP/gaps.json")" "$lost" "sum of the marks"
assert_ge "$(gojq length "$TMP/gaps.json")" 1 "number of marks"

# The loss is at its place: in a gap of a CPU, the archive has no switch of this CPU, and the
# witness has some.
gaps() {
	gojq -r '.[].args | [.cpu, .first, .last] | @tsv' "$TMP/gaps.json"
}
switches_in_gaps() {
	switches | awk '
		NR == FNR { cpu[NR] = $1; first[NR] = $2; last[NR] = $3; n = NR; next }
		!$6 { for (i = 1; i <= n; i++) if ($2 == cpu[i] && $1 > first[i] && $1 < last[i]) found++ }
		END { print found + 0 }' <(gaps) -
}
assert_eq "$(switches_in_gaps)" 0 "switches inside the gaps"
dump_records "$TMP/large.fxt"
assert_ge "$(switches_in_gaps)" 1000 "switches of the witness inside the gaps"

# Without a daemon, and unfiltered. The command's parent is kymo.
cat >"$TMP/load.sh" <<-END
	kill -STOP \$PPID
	"$KYMO_LOAD" --cpu $cpu pingpong 5000
	kill -CONT \$PPID
	sleep 0.3
END
expect_exit 0 "$KYMO" record --direct -b 64K -o "$TMP/direct.fxt" -- bash "$TMP/load.sh"
assert_contains "$TMP/stderr" ': lost [0-9]+ ' "the message of record"
of "$TMP/direct.fxt"
assert_ge "$lost" 1000 "records lost"
# No slice stays open: the times of each CPU still add up to the duration.
assert_eq "$(json "$SUMMARY" '.cpus | length')" "$(nproc --all)" "number of CPUs"
while read -r c busy idle; do
	assert_within $((busy + idle)) "$(json "$SUMMARY" .duration_ns)" 1 "busy and idle of CPU $c"
done < <(json "$SUMMARY" '.cpus[] | [.cpu, .busy_ns, .idle_ns] | @tsv')
if [ "${KYMO_PERFETTO_SQL:-}" ]; then
	assert_eq "$(perfetto "$TMP/direct.fxt" 'select count(*) n from sched_slice where dur = -1')" \
		'[{"n":0}]' "open slices in Perfetto"
fi

# -b also enlarges the rings of lifecycle records and of mappings, as the message about a loss says.
cat >"$TMP/lives.sh" <<-END
	kill -STOP \$PPID
	for ((i = 0; i < 2000; i++)); do
		/bin/true
	done
	kill -CONT \$PPID
	sleep 0.3
END
# The rings have the processes and mappings of the whole machine. If others started many processes
# meanwhile, a loss says nothing.
for n in 1 2 3; do
	others=$(forks)
	expect_exit 0 taskset -c "$cpu" "$KYMO" record --direct --force -e counters -b 32M -o "$TMP/lives.fxt" -- \
		bash "$TMP/lives.sh"
	others=$(($(forks) - others - 2000))
	something_was_lost >/dev/null || break
	[ "$others" -ge 500 ] || nothing_lost
	note "disturbed (try $n): $others processes of others: $(something_was_lost | tail -n 1)"
done
if ! something_was_lost >/dev/null; then
	summarize "$TMP/lives.fxt"
	assert_eq "$(json "$SUMMARY" .lost)" '{}' "records lost with large rings"
	assert_ge "$(json "$SUMMARY" .events.exit)" 2000 "exits"
fi
