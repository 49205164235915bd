#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A ring for stacks that is far too small, and a recorder that is stopped for a while: each sample
# is in the archive or counted as lost; switches are not affected.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../unwind-words.sh"
need_btf
need_bus
start_bus
start_kymod

start_stack_load deep 1500
expect_exit 0 "$KYMO" start tiny -o "$TMP/t.fxt" -e sched,profile -F 5000 -b 64K -p "$STACK_LOAD_PID" --bus "$BUS"
remember=$(own_maps ticks_taken)
# Prints the number of samples so far.
samples_taken() {
	bpftool -j map dump id "$remember" | gojq '[.[0].values[].value |
		if type == "array" then [to_entries[] | (.value | ltrimstr("0x") | explode |
			reduce .[] as $c (0; . * 16 + ($c | if . > 57 then . - 87 else . - 48 end))) *
			pow(256; .key)] | add else . end] | add'
}
# (this many while the recorder is stopped; the time depends on the machine)
has_taken() {
	(($(samples_taken) >= $1))
}
(for _ in 1 2 3; do
	kill -STOP "$KYMOD_PID"
	wait_for 20 has_taken $(($(samples_taken) + 500)) || true
	kill -CONT "$KYMOD_PID"
	sleep 0.1
done) &
STOPPER=$!
go_stack_load
wait "$STOPPER"
# It sleeps: there are no more samples.
taken=$(samples_taken)
expect_exit 3 "$KYMO" stop tiny --bus "$BUS"
end_stack_load

"$LIST_STACKS" "$TMP/t.fxt" >"$TMP/list"
recorded=$(grep -c '^tick' "$TMP/list")
summarize "$TMP/t.fxt"
lost=$(json "$SUMMARY" '.lost.stacks // 0')
note "$taken samples taken, $recorded recorded, $lost lost"
assert_ge "$lost" 500 "lost samples"
assert_ge "$recorded" 500 "recorded samples"
assert_eq $((recorded + lost)) "$taken" "recorded and lost"
assert_eq "$(json "$SUMMARY" '(.lost.sched // 0) + (.lost.lifecycle // 0)')" 0 "other records lost"
# Stacks in the archive are complete: 25 functions below the leaf. The load also reads the clock,
# which takes a twentieth of its time where that is slow, in a function with few callers.
whole=$(awk -v program="stack-load+" '{ n = 0; for (f = 5; f <= NF; f++) n += index($f, program) > 0; if (n >= 27) w++ } END { print w + 0 }' \
	<(grep '^tick' "$TMP/list" | grep -v kernel:))
all=$(grep '^tick' "$TMP/list" | grep -vc kernel:)
assert_ge $((100 * whole)) $((75 * all)) "samples below all functions"
assert_eq "$(json "$SUMMARY" '.stacks | .no_code + .no_table + .unreadable + .unsupported + .busy + .full')" 0 \
	"incomplete stacks"
expect_exit 0 "$KYMO" check --strict "$TMP/t.fxt"
