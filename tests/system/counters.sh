#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Counters have the values of the kernel's files, in the requested interval, with --direct and
# through the service, and not beyond the recording.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
start_bus
start_kymod

value() {
	awk -v key="$1:" '$1 == key { printf "%.0f\n", $2 * 1024 }' /proc/meminfo
}

# samples NAME VALUE: prints time and value of each sample in the last `dump_records`, one per row
samples() {
	events "$1" | gojq -r --arg value "$2" 'select(.event_type == "counter" and
		.category == "counters" and .args[$value] != null) | [.timestamp_ns, .args[$value]] | @tsv'
}

# longest_delay PID: prints the longest time (ms) that a thread of PID or of its children has waited
# for a CPU, from the kernel's statistics
longest_delay() {
	local children pid

	children=$(cat "/proc/$1/task/"*/children)
	for pid in $1 $children; do
		cat "/proc/$pid/task/"*/schedstat 2>/dev/null
	done | awk '{ ms = int($2 / 1000000); if (ms > most) most = ms } END { print most + 0 }'
}

# check_file FILE INTERVAL-MS DELAY-MS: checks a recording by a recorder that has waited for a CPU
# for DELAY-MS
check_file() {
	local file=$1 interval_ms=$2 delay_ms=$3 n late

	expect_exit 0 "$KYMO" check "$file"
	summarize "$file"
	assert_no_loss
	dump_records "$file"
	samples memory "total (bytes)" >"$TMP/memory"
	n=$(wc -l <"$TMP/memory")
	# There is one sample at the start, and one for each interval. If several became due while
	# the worker waited for a CPU, there is only one.
	expected=$(($(json "$SUMMARY" .duration_ns) / 1000000 / interval_ms + 1))
	note "$n samples in $(json "$SUMMARY" .duration_ns) ns, in $delay_ms ms of which there was no CPU"
	assert_le "$n" "$expected" "samples"
	assert_ge "$n" $(((expected - delay_ms / interval_ms) * 8 / 10 - 1)) "samples"
	assert_eq "$(cut -f2 "$TMP/memory" | sort -u)" "$(value MemTotal)" "memory of the machine"
	assert_eq "$(samples load threads | wc -l)" "$n" "samples of the load"
	# Samples are in the order of time, and none is outside the recording.
	sort -nc "$TMP/memory" || fail "the samples are not in the order of time"
	start=$(json "$SUMMARY" .start_ns) stop=$(json "$SUMMARY" .end_ns)
	late=$(awk -v from="$start" -v to="$stop" '$1 < from || $1 > to' "$TMP/memory" | wc -l)
	assert_eq "$late" 0 "samples outside of the recording"
	first=$(($(head -1 "$TMP/memory" | cut -f1) - start))
	assert_le "$first" $((100000000 + delay_ms * 1000000)) "ns from the start to the first sample"
}

# A load that the counters show: half a GiB less memory is free, and four threads compete for one
# CPU. The test also reads the kernel's files, because other processes change them, too.
note_load() {
	cut -d' ' -f1 /proc/loadavg >>"$TMP/loads"
}
held() {
	# (the load writes a byte when all of it is in memory)
	dd bs=1 count=1 of=/dev/null status=none
	for _ in {1..10}; do
		sleep 0.1
		value MemFree >>"$TMP/free"
	done
	wc -c >"$TMP/bytes"
}
load() {
	rm -f "$TMP/free"
	while sleep 0.1; do
		note_load
	done &
	local noter=$! spinners=()

	sleep 0.5
	for _ in {1..4}; do
		"$KYMO_LOAD" --cpu "$1" --out /dev/null spin 1000 &
		spinners+=($!)
	done
	head -c 512M /dev/zero | tail -c 512M | held
	wait "${spinners[@]}"
	kill $noter
	longest_delay "$PPID" >"$TMP/delay"
}
export -f value note_load held longest_delay load
export TMP KYMO_LOAD
note_load
record_around "$TMP/t.fxt" -e counters --counter-interval 100ms -- bash -c 'load "$1"' bash "$(last_cpu)"
note_load
check_file "$TMP/t.fxt" 100 "$(cat "$TMP/delay")"
assert_eq "$(cat "$TMP/bytes")" $(((512 << 20) - 1)) "bytes of the load"
# Some samples are from the second in which the load was running.
least=$(json "$SUMMARY" '.counters[] | select(.value == "free (bytes)") | .min')
most=$(sort -n "$TMP/free" | tail -n 1)
note "$least bytes were free at least; $most at most while the load held its memory"
assert_le "$least" $((most + (32 << 20))) "least free memory, when half a GiB was in use"
if [ -r /proc/pressure/cpu ]; then
	# Three of the four threads always wait. The host of a virtual machine can delay this.
	most=$(json "$SUMMARY" '.counters[] | select(.value == "CPU some (%)") | .max | floor')
	assert_ge "$most" 50 "highest pressure on CPUs"
	assert_eq "$(json "$SUMMARY" '[.counters[] | select(.name == "pressure") | .min < 0 or .max > 100] |
		any')" false "a pressure that is no percentage"
	assert_eq "$(json "$SUMMARY" '.counters[] | select(.value == "CPU some (%)") | .count')" \
		$(($(wc -l <"$TMP/memory") - 1)) "samples of the pressure"
else
	note "no pressure on this kernel"
fi
# (the value changes every five seconds, and the test has stored each value)
one=$(json "$SUMMARY" '.counters[] | select(.value == "1 minute") | .max')
awk -v said="$one" '
	NR == 1 || $1 < least { least = $1 }
	$1 > most { most = $1 }
	END { exit !(said >= least - 0.01 && said <= most + 0.01) }' "$TMP/loads" ||
	fail "the load is said to be $one, and was $(sort -nu "$TMP/loads" | paste -sd ' ')"

# Only counters were requested.
assert_eq "$(gojq -r 'select(.record == "context_switch") | .record' "$DUMP" | wc -l)" 0 "switches"

expect_exit 0 "$KYMO" start bus -e counters,sched --counter-interval 200ms -o "$TMP/bus.fxt" --bus "$BUS"
expect_soon 5 session_is_running bus
"$KYMO" status --json bus --bus "$BUS" >"$TMP/status.json"
assert_eq "$(gojq -r '.. | .counter_interval_ns? // empty' "$TMP/status.json")" 200000000 "interval of the session"
sleep 1.5
delay=$(longest_delay "$KYMOD_PID")
expect_exit 0 "$KYMO" stop bus --bus "$BUS"
check_file "$TMP/bus.fxt" 200 "$delay"
stop_kymod

if [ "${KYMO_PERFETTO_SQL:-}" ]; then
	perfetto "$TMP/t.fxt" \
		"select name, value from stats where value != 0 and
			(name glob 'fuchsia*' or severity in ('error', 'data_loss'))" \
		"select t.name, count(*) n, p.name process from counter c join process_counter_track t
			on c.track_id = t.id join process p using (upid)
			where t.name = 'memory:free (bytes):0' group by 1" >"$TMP/answers"
	assert_eq "$(sed -n 1p "$TMP/answers")" '[]' "errors of import"
	assert_eq "$(sed -n 2p "$TMP/answers" | gojq -r '.[0] | [.n, .process] | @tsv')" \
		"$(json "$TMP/t.fxt.summary.json" \
			'.counters[] | select(.value == "free (bytes)") | "\(.count)\tCounters"')" \
		"samples in Perfetto"
fi
