#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Among all processes, a growing one is watched, and its leak is reported. Other processes never get
# a probe.

. "$(dirname "$0")/../lib.sh"
need_btf

"$REACH_LOAD" plant 20 </dev/null >/dev/null &
IDLE=$!
"$REACH_LOAD" grow 50 200000 &
GROWING=$!
remember_bpf
"$KYMO" record --direct -o "$TMP/triage.fxt" -e memory --triage=200ms 2>"$TMP/record.log" &
RECORDER=$!

is_watched() {
	{ "$KYMO" dump --json "$TMP/triage.fxt" 2>/dev/null || true; } | { grep -F '"watch"' || true; } |
		holds - "any(.[]; .record == \"event\" and .process_id == $1)" -s
}

expect_soon 60 is_watched "$GROWING"
# A process that starts later is also found: so the other one was checked often enough. Another
# process begins to share its memory before it is watched.
"$REACH_LOAD" grow 50 200000 share &
LATER=$!
expect_soon 60 is_watched "$LATER"
assert_eq "$("$MEMORY_LOAD" patched "$IDLE")" 0 "bytes changed in a process that does not grow"
kill -INT "$RECORDER"
wait "$RECORDER" || {
	cat "$TMP/record.log" >&2
	fail "the recording failed"
}
no_bpf_left "a recording of what grows"
assert_eq "$("$MEMORY_LOAD" patched "$GROWING")" 0 "bytes changed after the end"
kill "$GROWING" "$LATER" "$IDLE"
dump_records "$TMP/triage.fxt"
assert_eq "$(events watch | gojq -s --argjson pid "$IDLE" 'map(select(.process_id == $pid)) | length')" 0 \
	"watches of a process that does not grow"
assert_ge "$(events block | gojq -s --argjson pid "$GROWING" \
	'map(select(.process_id == $pid and .args.size == 200000)) | length')" 5 "blocks that leaked"
# (several watches: it is released when it does not grow for a while)
for pid in $LATER $GROWING; do
	events watched | gojq -r "select(.process_id == $pid) | .args.text // \"none\"" | cut -d, -f 1 | sort -u >"$TMP/gap-$pid"
done
assert_eq "$(cat "$TMP/gap-$LATER")" "another process shared its memory (clone() with CLONE_VM)" "gap of the process that shares its memory"
assert_eq "$(cat "$TMP/gap-$GROWING")" none "gap of the other one"
expect_exit 0 "$KYMO" check "$TMP/triage.fxt"

note "contradictory options are refused"
expect_exit 2 "$KYMO" record --direct -o "$TMP/x.fxt" -e memory --triage -p 1
assert_says "$TMP/stderr" "cannot be combined with a filter" "complaint"
expect_exit 2 "$KYMO" record --direct -o "$TMP/x.fxt" -e sched --triage
assert_says "$TMP/stderr" "needs 'memory'" "complaint"
