#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kymo top with a known load: it shows the load and the name of its function, as JSON, as text, and
# with filters. The values of each interval are correct.

. "$(dirname "$0")/../lib.sh"
need_btf
remember_bpf

# top [option ...]: writes JSON to $TMP/top.json, one object per line
top() {
	expect_recorded - timeout "$(limit 60)" "$KYMO" top --direct --json "$@"
	mv "$TMP/stdout" "$TMP/top.json"
}

note "a busy function is at the top"
# (it leaves the CPU to others that need it)
nice -n 10 "$STACK_LOAD" chain 60000 >/dev/null &
load=$!
expect_soon 5 grep -qx stack-load "/proc/$load/comm"
top -n 3
assert_eq "$(wc -l <"$TMP/top.json")" 3 "lines of -n 3"
tail -1 "$TMP/top.json" >"$TMP/last.json"
gojq -c '.processes[] | select(.pid == '"$load"')' "$TMP/last.json" >"$TMP/process.json"
assert_eq "$(json "$TMP/process.json" .name)" stack-load "its name"
assert_contains "$TMP/process.json" '"command_line":"[^"]*stack-load chain 60000"' "its command line"
assert_ge "$(json "$TMP/process.json" '.cpu_ns')" 1000000 "CPU time of the load"
assert_eq "$(json "$TMP/last.json" '.threads | map(select(.tid == '"$load"')) | length')" 1 "its thread"

note "its functions have names"
cp "$TMP/top.json" "$TMP/three.json"
rm -f "$TMP/top.json"
"$KYMO" top --direct --json -F 499 >"$TMP/top.json" 2>"$TMP/top.log" &
pid=$!
# The three leaf functions have five, three and two tenths of the time. (Names may be missing in the
# first intervals, while files are read.)
is_hottest() {
	holds "$TMP/top.json" \
		'any(.[]; [.functions[] | select(.process == "stack-load" and .module == "stack-load")][0].name == "leaf_a")' -s
}
expect_soon 60 is_hottest
kill -INT $pid
expect_recorded - finished $pid "$TMP/top.log"
mv "$TMP/three.json" "$TMP/top.json"

note "sums are those of the interval"
gojq -c '{ns: (.end_ns - .start_ns), n: (.cpus | length), busy: (.cpus | map(.busy_percent) | max),
	sum: (.threads | map(.cpu_ns) | add), all: (.processes | map(.cpu_ns) | add),
	p: (.functions | map(.self_percent) | add)}' "$TMP/top.json" >"$TMP/sums.json"
holds "$TMP/sums.json" '.ns == 1e9 and .busy <= 100.001 and .sum == .all and .all <= .ns * .n and .p <= 100.01' || fail "sums: $(cat "$TMP/sums.json")"
holds "$TMP/top.json" 'length > 1 and [.[].end_ns][:-1] == [.[].start_ns][1:]' -s ||
	fail "intervals do not follow each other"

note "filters, and -d"
top -p "$load" -d 1500ms -i 500ms -F 999
assert_ge "$(wc -l <"$TMP/top.json")" 2 "intervals of 500 ms in 1.5 s"
assert_eq "$(json "$TMP/top.json" '[.[].processes[].pid] | unique | join(" ")' -s)" "$load" "processes that -p selects"
assert_eq "$(json "$TMP/top.json" '[.[].functions[].process] | unique | join(" ")' -s)" stack-load "the processes of the functions"

note "without names"
# (an interval in which the load gets little CPU time may have no sample)
top -p "$load" -n 4 -F 999 --no-symbols
assert_eq "$(json "$TMP/top.json" '[.[].functions[]][0] | "\(.module) \(.name)"' -s)" "stack-load [unknown]" "a module"

note "text, where there is no terminal"
expect_recorded - timeout "$(limit 60)" "$KYMO" top --direct -n 4 -i 500ms -F 999 -p "$load"
assert_eq "$(grep -c '^kymo top  ' "$TMP/stdout")" 4 "blocks"
assert_contains "$TMP/stdout" '^ +[0-9.]+%  stack-load +stack-load +leaf_a$' "a function"
assert_contains "$TMP/stdout" "^ +$load +[0-9.]+% .* stack-load +.*stack-load chain 60000\$" "the process"
! grep -q $'\033' "$TMP/stdout" || fail "escape sequences in a file"

note "where nothing happens, intervals end all the same"
sleep 100 &
idle=$!
expect_exit 3 timeout "$(limit 60)" "$KYMO" top --direct --json -p $idle -n 3 -i 200ms
assert_says "$TMP/stderr" 'no selected thread ran' "the reason"
mv "$TMP/stdout" "$TMP/top.json"
assert_eq "$(wc -l <"$TMP/top.json")" 3 "intervals without an event"
kill $idle

note "many processes come and go"
# (more than there is time for: recording may begin late)
"$STACK_LOAD" burst 1000000 5 >/dev/null &
burst=$!
top -n 2
kill $burst
assert_ge "$(gojq -s --arg name stack-load '[.[].processes[] | select(.name == $name)] | length' "$TMP/top.json")" 20 \
	"processes that lived for 5 ms"
wait $burst || true

note "ends"
# The reader has ended.
status=0
timeout "$(limit 60)" "$KYMO" top --direct --json -i 100ms > >(sed -n 1q) 2>"$TMP/stderr" || status=$?
assert_eq "$status" 1 "exit status with a closed pipe"
assert_says "$TMP/stderr" 'cannot write to standard output' "the message about it"
for signal in INT TERM HUP; do
	rm -f "$TMP/top.json"
	"$KYMO" top --direct --json -i 100ms >"$TMP/top.json" 2>"$TMP/top.log" &
	pid=$!
	expect_soon 20 test -s "$TMP/top.json"
	kill -$signal $pid
	expect_soon 40 has_ended $pid
	expect_recorded - finished $pid "$TMP/top.log"
done
kill $load
no_bpf_left
