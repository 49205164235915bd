#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The cost of recording is measured and limited: above --max-overhead, call stacks are shed first,
# then wakeups, then the recording ends. The archive contains these steps, is complete, and has none
# of the shed data. A session of a collection pauses instead, and everything returns after the
# storm.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../support/collect-words.sh"
need_btf
need_bus
need_command busctl
start_service_bus
remember_bpf

# Processes that exist at the pause and have ended at the resumption, and the reverse.
sleep 1000 &
old=$!

# A storm until it is killed: far more switches than a thousandth of a CPU can record.
"$KYMO_LOAD" --cpu "$(last_cpu)" pingpong 100000000 &
load=$!

# Without the storm, it costs a third of that limit.
profile storm <<-END
	[Collection]
	Categories=sched profile offcpu irq softirq workqueue power counters
	MaxOverhead=0.04cpu
	[Output]
	Directory=$TMP/out
	RotateSize=16M
END
start_collect storm

# ---- above the limit ----

expect_exit 3 timeout "$(limit 60)" "$KYMO" record -e sched,profile,offcpu --max-overhead 0.001cpu -d 40 -b 4M \
	--json -o "$TMP/t.fxt" --bus "$BUS"
cp "$TMP/stdout" "$TMP/said.json"
assert_eq "$(json "$TMP/said.json" .reason)" overhead "why it ended"
assert_eq "$(json "$TMP/said.json" .error)" "" "its error"
assert_eq "$(json "$TMP/said.json" '[.shed[].what] | join(" ")')" "stacks wakeups session" "the parts that were shed"
assert_contains "$TMP/stderr" 'call stacks stopped at .*--max-overhead is 0\.10%' "the message"
assert_says "$TMP/stderr" 'ended at ' "the message"
assert_contains "$TMP/kymod.log" 'stopped stacks: overhead .*, limit 0\.10%' \
	"the journal"
assert_says "$TMP/kymod.log" 'stopped session' "the journal"

# ---- a collection ----

# of_storm FILTER: prints the result of FILTER for the status of the session
of_storm() {
	"$KYMO" status storm --json --bus "$BUS" >"$TMP/storm.json"
	json "$TMP/storm.json" ".[0] | $1"
}
has_shed() {
	[ "$(of_storm '[.shed[].what] | join(" ")')" = "$1" ]
}
# (the last running programs are counted at the next check)
rests() {
	runs=$(of_storm .bpf_runs)
	sleep 1.2
	[ "$(of_storm .bpf_runs)" = "$runs" ]
}
expect_soon 20 has_shed "stacks wakeups session"
takes_little() {
	[ "$(of_storm .cpu_ppm)" -le 10000 ]
}
expect_soon 20 rests
expect_soon 20 takes_little
assert_eq "$(of_storm .state)" running "state of a pause"
expect_exit 0 "$KYMO" status storm --bus "$BUS"
assert_contains "$TMP/stdout" \
	'^    shed:     session at .*% of a CPU, the limit is 4\.00%: paused$' "status"
kill $old
sleep 1001 &
new=$!
kill $load

# ---- the contents of the first archive ----

expect_exit 0 "$KYMO" check "$TMP/t.fxt"

# went WHAT: prints the time when it was shed, in seconds from the start
went() {
	gojq -r --arg what "$1" '.start_ns as $t0 | .shed[] | select(.what == $what) | (.ts_ns - $t0) / 1e9' "$TMP/said.json"
}

# part FROM TO: summarizes the archive between these times, in $SUMMARY. Detaching takes a moment,
# and the next two checks take at least 1.5 s.
part() {
	expect_exit 0 "$KYMO" cut --force --from "$1s" --to "$2s" "$TMP/t.fxt" "$TMP/part.fxt"
	summarize "$TMP/part.fxt"
}

later() {
	awk -v t="$1" -v by="$2" 'BEGIN { printf "%.6f\n", t + by }'
}

part 0 "$(went stacks)"
assert_ge "$(json "$SUMMARY" .events.wakeup)" 100 "wakeups at first"
assert_ge "$(json "$SUMMARY" '.profile.samples // 0')" 1 "samples at first"
part "$(later "$(went wakeups)" -1.4)" "$(went wakeups)"
assert_ge "$(json "$SUMMARY" .events.wakeup)" 100 "wakeups without stacks"
assert_eq "$(json "$SUMMARY" '.profile.samples // 0')" 0 "samples without stacks"
part "$(later "$(went session)" -1.4)" "$(went session)"
assert_eq "$(json "$SUMMARY" .events.wakeup)" 0 "wakeups at last"
assert_ge "$(json "$SUMMARY" .events.switch)" 100 "switches at last"

# All parts that were shed are still shed in the last moment.
expect_exit 0 "$KYMO" cut --force --from "$(later "$(went session)" -0.001)s" "$TMP/t.fxt" "$TMP/part.fxt"
dump_records "$TMP/part.fxt"
events shed >"$TMP/shed.json"
assert_eq "$(gojq -r .args.class "$TMP/shed.json" | paste -sd ' ')" "stacks wakeups session" "events in the archive"
assert_eq "$(gojq -r 'select(.args.value > .args.limit) | .args.limit' "$TMP/shed.json" | paste -sd ' ')" \
	"1000 1000 1000" "limits in the archive"

# (if other processes also switch this often, its rings can have overflowed)
expect_read "$TMP/t.fxt" "$KYMO" summary "$TMP/t.fxt"
assert_contains "$TMP/stdout" '^no stacks from .* the limit is 0\.10%' "summary"
assert_contains "$TMP/stdout" '^no wakeups from ' "summary"
assert_contains "$TMP/stdout" '^no recording from ' "summary"
assert_contains "$TMP/stdout" '^recording took .* in the kernel and .* in the recorder' "summary"
expect_read "$TMP/t.fxt" "$KYMO" summary --json "$TMP/t.fxt"
assert_ge "$(json "$TMP/stdout" .bpf_cpu_ns)" 1000000 "ns of the programs in the archive"
# ---- within the limit, and without one ----

expect_exit 0 "$KYMO" start cheap -o "$TMP/cheap.fxt" -e sched --max-overhead 100% -p $$ --bus "$BUS"
for _ in {1..30}; do
	/bin/true
done
costs_something() {
	busctl --address="$BUS" --json=short get-property org.kymo.Trace1 /org/kymo/Trace1/session/cheap \
		org.kymo.Trace1.Session Cost >"$TMP/cost.json" || return 1
	holds "$TMP/cost.json" '.data | (.bpf_classes_ns.data | .lifecycle > 0 and .sched > 0) and .bpf_runs.data > 0'
}
expect_soon 20 costs_something
for key in bpf_ns bpf_runs daemon_cpu_ns; do
	assert_ge "$(json "$TMP/cost.json" ".data.$key.data")" 1 "$key of a session that runs"
done
assert_ge "$(json "$TMP/cost.json" .data.bpf_classes_ns.data.lifecycle)" 1 "lifecycle"
assert_ge "$(json "$TMP/cost.json" .data.bpf_classes_ns.data.sched)" 1 "sched"
# (programs that are not attached cost nothing)
assert_eq "$(json "$TMP/cost.json" .data.bpf_classes_ns.data.offcpu)" null "offcpu"
expect_exit 0 "$KYMO" stop cheap --bus "$BUS"
expect_exit 0 "$KYMO" summary --json "$TMP/cheap.fxt"
assert_eq "$(json "$TMP/stdout" .shed)" null "parts that were shed within the limit"
assert_ge "$(json "$TMP/stdout" .bpf_cpu_ns)" 1 "ns of the programs"

# ---- the storm is over ----

expect_soon 60 has_shed ""
events=$(of_storm .events)
has_more_events() {
	[ "$(of_storm .events)" -ge $((events + 100)) ]
}
expect_soon 20 has_more_events
kill -TERM "${COLLECT[storm]}"
wait "${COLLECT[storm]}" || fail "collect has failed: $(cat "$TMP/storm.log")"
kill $new
assert_contains "$TMP/kymod.log" 'storm: stopped session: overhead .*% of a CPU, limit 4\.00%' \
	"the journal"
for what in session wakeups stacks; do
	assert_contains "$TMP/kymod.log" "storm: resumed $what: overhead .*% of a CPU" "the journal"
done
assert_says "$TMP/storm.log" 'storm: resumed at ' "the message of collect"

# The storm is far too long to be read completely.
while read -r archive; do
	summarize "$archive"
	[ "$(json "$SUMMARY" '[(.shed // [])[] | select(.what == "session" and .until_ns)] | length')" = 0 ] || break
done < <(chunks storm)
while read -r chunk; do
	check_finds_nothing "$chunk"
done < <(chunks storm | tail -n 3)
pause=$(json "$SUMMARY" '[.shed[] | select(.what == "session")] | first | "\(.ts_ns) \(.until_ns)"')
read -r from until <<<"$pause"
assert_ge $((until - from)) 4000000000 "ns of the pause"
expect_read "$archive" "$KYMO" summary "$archive"
assert_contains "$TMP/stdout" \
	'^no recording from .* s to .* s: recording took .* of a CPU, the limit is 4\.00%' "summary"
# Nothing is known of the pause: it is no time of a CPU or of a thread.
assert_contains "$TMP/stdout" '^recorded .*% of the time: CPU times, waits and percentages' "summary"
assert_eq "$(json "$SUMMARY" '.duration_ns - .recorded_ns - ([.shed[] | select(.what == "session")
	| (.until_ns // '"$(json "$SUMMARY" .end_ns)"') - .ts_ns] | add)')" 0 "ns of pauses that are not counted as such"
holds "$SUMMARY" '.recorded_ns as $all | .cpus[] | .busy_ns + .idle_ns + .other_ns == $all' ||
	fail "the times of CPUs are not those that were recorded"
holds "$SUMMARY" '.recorded_ns as $all | .threads | all(.cpu_ns + .runnable_ns + .blocked_ns <= $all + 1000000)' ||
	fail "threads have times in the pause"

# late TIME: TIME (ns), as `kymo cut` has it
late() {
	gojq -r --argjson at "$1" '"\([$at - .start_ns, 0] | max / 1e9)s"' "$SUMMARY"
}
expect_exit 0 "$KYMO" cut --force --from "$(late $((from - 500000000)))" --to "$(late $((until + 2000000000)))" \
	"$archive" "$TMP/late.fxt"
dump_records "$TMP/late.fxt"
grep -vE '"category":"kymo"|"record":"(string|thread|blob)"' "$DUMP" | grep -F timestamp_ns >"$TMP/late.json"
gojq -r --argjson from "$from" --argjson to "$until" 'def where($t): if $t <= $from then "before" elif $t < $to then "in" else "behind" end;
	where(.timestamp_ns) + if .end_time_ns then " " + where(.end_time_ns) else "" end' \
	"$TMP/late.json" | sort | uniq -c >"$TMP/where"
# (so that there are records; their number depends on other load)
for there in before behind; do
	assert_ge "$(grep -cE "^ *[0-9]+ $there" "$TMP/where")" 1 "kinds of records that are $there the pause"
done
assert_eq "$(grep -cvE '^ *[0-9]+ (before( before)?|behind( behind)?)$' "$TMP/where")" 0 "records that are elsewhere: $(cat "$TMP/where")"
# Processes that began in the pause have their names.
assert_ge "$(grep -c "\"record\":\"kernel_object\".*\"koid\":$new," "$DUMP")" 1 "names of who came"
assert_ge "$(grep -c "\"record\":\"mmap\".*\"process_id\":$new," "$DUMP")" 1 "its mappings"

# It has waited since then, so it has never left a CPU in the recording.
while read -r chunk; do
	"$LIST_STACKS" "$chunk" | grep -E "^(waiting|earlier) [0-9]+ $new " || true
done < <(chunks storm) >"$TMP/newcomer"
assert_ge "$(grep -c 'libc[^ ]*+' "$TMP/newcomer")" 1 "times off CPU, with stack, of what began to wait in the pause"

if [ "${KYMO_PERFETTO_SQL:-}" ]; then
	perfetto "$TMP/late.fxt" \
		"select count(*) n from stats where value != 0 and (name glob 'fuchsia*' or severity in ('error', 'data_loss'))" \
		"select count(*) n from sched_slice where dur = -1" \
		"select count(*) n from slice where dur = -1" \
		"select count(*) n from sched_slice join thread using (utid)
			where tid != 0 and ts < $until - 1 and ts + dur > $from + 1" \
		"select count(*) n from slice where ts < $until - 1 and ts + dur > $from + 1" >"$TMP/answers"
	assert_eq "$(gojq '.[0].n' "$TMP/answers" | paste -sd ' ')" "0 0 0 0 0" \
		"errors, open slices and what runs in the pause, as Perfetto has it"
fi

# A cut after the storm does not report that anything is left out. (If other load makes the session
# shed again, the cut is the longest time in which nothing is shed.)
archive=$(chunks storm | tail -n 1)
summarize "$archive"
whole=$(json "$SUMMARY" '.end_ns as $end
	| reduce ((.shed // []) | sort_by(.ts_ns)[]) as $s (
		{at: (if .shed then $end else .start_ns end), most: [0, 0]};
		if $s.ts_ns - .at > .most[1] - .most[0] then .most = [.at, $s.ts_ns] else . end
		| .at = ([if .at == $end then 0 else .at end, $s.until_ns // $end] | max))
	| if $end - .at > .most[1] - .most[0] then .most = [.at, $end] else . end
	| .most | "\(.[0]) \(.[1])"')
read -r from until <<<"$whole"
assert_ge $((until - from)) 20000000 "ns without a pause in the last chunk"
expect_exit 0 "$KYMO" cut --force --from "$(late $(((from + until) / 2)))" --to "$(late $((until - 5000000)))" \
	"$archive" "$TMP/part.fxt"
summarize "$TMP/part.fxt"
assert_eq "$(json "$SUMMARY" '.shed // [] | length')" 0 "the events of a cut"

# ---- the attacher, for each child of a program that forks ----

# cpu_ms PID: prints the CPU time of all threads and children of PID
cpu_ms() {
	awk '{ print ($14 + $15 + $16 + $17) * 10 }' "/proc/$1/stat"
}
session_ms() {
	"$KYMO" status forks --bus "$BUS" --json | gojq '.. | .daemon_cpu_ns? // empty | . / 1000000 | floor'
}
has_probes() {
	[ "$("$MEMORY_LOAD" patched "$forks")" != 0 ]
}
cp "$(command -v bash)" "$TMP/forks"
mkfifo "$TMP/go"
exec {go}<>"$TMP/go"
"$TMP/forks" -c 'read -r _; for ((i = 0; i < 300; i++)); do (read -r -t 0.005 _); done; echo >"$0"; read -r _' "$TMP/forked" <&"$go" &
forks=$!
service_pid=$(cat "$TMP/kymod.pid")
expect_exit 0 "$KYMO" start forks -e memory -p "$forks" -o "$TMP/forks.fxt" --bus "$BUS"
expect_soon 20 has_probes
keeper=$(pgrep -P "$service_pid" kymo-probes)
read -ra before <<<"$(cpu_ms "$service_pid") $(cpu_ms "$keeper") $(session_ms)"
echo >&"$go"
expect_soon 60 test -s "$TMP/forked"
# (the session's count is updated one check later than the kernel's)
is_counted() {
	local after

	read -ra after <<<"$(cpu_ms "$service_pid") $(cpu_ms "$keeper") $(session_ms)"
	service=$((after[0] - before[0])) probes=$((after[1] - before[1])) counted=$((after[2] - before[2]))
	[ $((counted + 30)) -ge $(((service + probes) * 8 / 10)) ] && [ $counted -ge $((probes + service / 4)) ]
}
wait_for 20 is_counted || note "it is not all counted"
note "ms of CPU time: service $service, its process for probes $probes, counted for the session $counted"
assert_ge $((counted + 30)) $(((service + probes) * 8 / 10)) "CPU time that is counted for the session"
assert_ge "$probes" 5 "ms of CPU time of the process for probes"
assert_ge "$counted" $((probes + service / 4)) "CPU time that is counted for the session"
expect_exit 0 "$KYMO" stop forks --bus "$BUS"
exec {go}>&-
kill "$forks"

end_kymod TERM
no_bpf_left "recordings with a budget"
