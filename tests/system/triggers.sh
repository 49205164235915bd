#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Triggers: a thread that waits for a CPU which a realtime thread holds, and one that is blocked for
# long. The event is in the archive at that time, names the thread, and its value agrees with the
# schedule. Then triggers of collections that need load: pressure (on CPU and disk) and a leaking
# program each cause snapshots, but not more often than permitted.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../support/collect-words.sh"
need_btf
need_bus
need_command chrt
remember_bpf
cpu=$(last_cpu)
chrt -f 50 true 2>/dev/null || skip "no realtime priority is to be had"

# trigger KIND: prints the trigger events of this kind in the last dump_records
triggers() {
	events trigger | gojq -c --arg kind "$1" 'select(.args.reason == $kind)'
}

# ---- a wakeup that waits ----

# The napper sleeps for a millisecond again and again. The hog occupies its CPU for 0.3 s.
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
# (the longest wait: on a busy machine, it also waits at other times)
triggers wakeup | gojq -sc 'max_by(.args.value) // empty' >"$TMP/wakeup.json"
assert_eq "$(wc -l <"$TMP/wakeup.json")" 1 "triggers"
assert_eq "$(json "$TMP/wakeup.json" .args.thread)" "$tid" "the thread"
assert_eq "$(json "$TMP/wakeup.json" .args.limit)" 150000000 "the limit"
value=$(json "$TMP/wakeup.json" .args.value)
assert_ge "$value" 150000000 "how long it waited"
assert_le "$value" "$(thread "$tid" max_wakeup_latency_ns)" "how long it waited, and the longest wait"
# The event is at the switch that ended the wait.
when=$(json "$TMP/wakeup.json" .timestamp_ns)
switches >"$TMP/switches"
awk -v tid="$tid" -v when="$when" '$4 == tid && $1 == when { found = 1 } END { exit !found }' "$TMP/switches" ||
	fail "$tid was not switched in at $when"
assert_eq "$(triggers offcpu | wc -l)" 0 "triggers on times off CPU"
assert_contains <("$KYMO" summary "$TMP/t.fxt") '^  wakeup +[0-9]+ times?, the worst ' "summary"

# ---- events without a notification count, too ----

# Two spinners and a sleeper on one CPU: waits of milliseconds, more than one a second.
for _ in 1 2; do "$KYMO_LOAD" --cpu "$cpu" spin 2500 >/dev/null & done
start_held often --cpu "$cpu" sleep 100 5000
"$KYMO" record --direct -e sched --trigger wakeup=1ms,interval=1h -d 2 -o "$TMP/often.fxt" 2>"$TMP/log" &
recorder=$!
expect_soon 10 test -s "$TMP/often.fxt"
begin_held often
wait $recorder || fail "exit status $?: $(cat "$TMP/log")"
end_held often
summarize "$TMP/often.fxt"
dump_records "$TMP/often.fxt"
said=$(triggers wakeup | gojq -s 'map(.args.count) | add // 0')
worst=$(triggers wakeup | gojq -s 'map(.args.value) | max // 0')
# The same times from the schedule: from a wakeup to the switch-in.
{
	wakeups | awk '{ print $1, 0, $3 }'
	switches | awk '{ print $1, 1, $4 }'
} | sort -n -k1,1 -k2,2 | awk '
	$2 == 0 && !($3 in woken) { woken[$3] = $1 }
	$2 == 1 && ($3 in woken) {
		wait = $1 - woken[$3]
		delete woken[$3]
		if (wait >= 1000000) print wait
	}' | sort -rn >"$TMP/waits"
waits=$(wc -l <"$TMP/waits") longest=$(head -n 1 "$TMP/waits")
note "$waits waits of a millisecond or more, the longest $longest ns; triggers say $said and $worst ns"
assert_ge "$waits" 2 "waits of a millisecond"
# (a wait at either end of the recording may be in only one of the two)
assert_ge "$said" $((waits - waits / 20 - 2)) "waits that triggers count"
assert_le "$said" $((waits + waits / 20 + 2)) "waits that triggers count"
head -n 3 "$TMP/waits" >"$TMP/longest"
assert_line "$TMP/longest" "$worst" "the longest wait, or one of two at the ends behind longer ones"
assert_le "$(triggers wakeup | wc -l)" 6 "events: the first one, and one a second"

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
triggers offcpu | gojq -c --argjson tid "$tid" 'select(.args.thread == $tid)' >"$TMP/offcpu.json"
n=$(wc -l <"$TMP/offcpu.json")
# All five are present, possibly several in one event.
assert_ge "$n" 1 "triggers"
assert_ge "$(gojq -s 'map(.args.count) | add' "$TMP/offcpu.json")" 5 "triggers that were counted"
assert_eq "$(gojq -s 'map(select(.args.value < 200000000)) | length' "$TMP/offcpu.json")" 0 "too short"

# Without a filter, intended sleep does not count as blocked.
record_around "$TMP/all.fxt" -e sched --trigger offcpu=100ms -- "$KYMO_LOAD" sleep 3 150000
dump_records "$TMP/all.fxt"
load=$(grep -F '"kymo-load"' "$DUMP" | gojq -s 'map(select(.record == "kernel_object" and .name == "kymo-load"))[0].koid')
[ "$load" -gt 0 ] || fail "the load is not in the archive"
assert_eq "$(triggers offcpu |
	gojq -c --argjson tid "$load" 'select(.args.thread == $tid)' | wc -l)" 0 \
	"triggers by sleep that was meant"
no_bpf_left "recordings with triggers"

# ---- snapshots by pressure and by leaks ----

start_service_bus
# flight KIND: defines a collection with the name of its trigger. Standard input has further lines.
kinds=()
flight() {
	kinds+=("$1")
	{
		printf '%s\n' "[Output]" "Directory=$TMP/out" "[Flight]" "Keep=60s" "[Collection]" "Mode=flight"
		cat
	} | profile "$1"
}
flight pressure_cpu <<-END
	Categories=sched counters
	CounterInterval=100ms
	[Filter]
	Comm=kymo-load
	[Trigger]
	Interval=2s
	CpuPressure=2%
END
# (no thread waits for files in memory)
[ "$(stat -f -c %T "$TMP")" = tmpfs ] || flight pressure_io <<-END
	Categories=sched counters
	CounterInterval=100ms
	[Filter]
	Comm=dd
	[Trigger]
	Interval=2s
	IoPressure=1%
END
# Another process of this name has a few blocks and does not grow.
flight leak <<-END
	Categories=memory
	[Filter]
	Comm=reach-load
	[Memory]
	UsageInterval=100ms
	[Trigger]
	Interval=2s
	LeakGrowth=1M
END
"$REACH_LOAD" plant 20 </dev/null >"$TMP/planted" &
idle=$!
expect_soon 10 test -s "$TMP/planted"
"$REACH_LOAD" grow 40 200000 &
leaker=$!
for kind in "${kinds[@]}"; do
	start_collect "$kind"
done

# Two processes that compete for one CPU, and one that syncs each of its blocks to the disk.
load=("$leaker" "$idle")
for _ in 1 2; do
	"$KYMO_LOAD" --cpu "$cpu" spin 120000 >/dev/null &
	load+=($!)
done
while dd if=/dev/zero of="$TMP/block" bs=4k count=200 oflag=dsync 2>/dev/null; do
	:
done &
load+=($!)

# The second snapshot has the skipped events.
has_two() {
	has_chunks "$1" 2 && [ "$(snapshots_of "$1" passed_over)" -ge 1 ]
}
for kind in "${kinds[@]}"; do
	expect_soon 60 has_two "$kind"
done
kill "${load[@]}"
for kind in "${kinds[@]}"; do
	end_collect "$kind"
done

for kind in "${kinds[@]}"; do
	rm -f "$TMP/fired" "$TMP/marks"
	while read -r file; do
		check_finds_nothing "$file"
		dump_records "$file"
		triggers "$kind" >>"$TMP/fired"
		events mark | gojq -r .args.text >>"$TMP/marks"
	done < <(chunks "$kind")
	n_files=$(n_chunks "$kind")
	why="$kind( of [^ ]+ \([0-9]+\))?: [0-9.]+ ?[%MGiB]+, the limit is [0-9.]+ ?[%MiB]+\$"
	assert_eq "$(grep -cE "session/$kind: writes a snapshot to $TMP/out: $why" "$TMP/kymod.log")" "$n_files" "$kind: snapshots in the log, and files"
	# (one of them may not fit)
	assert_contains "$TMP/marks" "^snapshot: $why" "marks that say why"
	# It contains the event that caused it, and possibly events of the previous snapshot.
	gojq -s -c 'unique_by(.timestamp_ns)[]' "$TMP/fired" >"$TMP/$kind.json"
	n=$(wc -l <"$TMP/$kind.json")
	assert_ge "$n" "$n_files" "triggers by $kind, and files"
	holds "$TMP/$kind.json" '.args.value >= .args.limit' || fail "$kind: too little: $(cat "$TMP/$kind.json")"
	span=$(gojq -s '(.[-1].timestamp_ns - .[0].timestamp_ns) / 1000000000 | floor' "$TMP/$kind.json")
	assert_le "$n_files" $((span / 2 + 2)) "$kind: files in $span s, one each 2 s at most"
	note "$kind: $n_files files, $(gojq -s 'map(.args.value) | max' "$TMP/$kind.json") at most"
done
holds "$TMP/leak.json" ".args.thread == $leaker and .args.limit == 1048576" ||
	fail "it was not the program that leaks: $(cat "$TMP/leak.json")"
holds "$TMP/pressure_cpu.json" '(.args | has("thread") | not) and .args.limit == 20000' ||
	fail "pressure is not of the machine: $(cat "$TMP/pressure_cpu.json")"
# The last event is the cause of the snapshot.
file=$(chunks pressure_cpu | tail -n 1)
dump_records "$file"
assert_ge "$(switches | wc -l)" 20 "switches of those who want a CPU"
end_kymod TERM
no_bpf_left "flight recorders with triggers"
