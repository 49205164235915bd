#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `kymo export --format perfetto` of allocations: Perfetto's table of heap profiles has exactly the
# blocks and bytes that `kymo leaks` reports for each process, with their stacks; also with each
# event, with samples, in children, and before and after an exec.

. "$(dirname "$0")/../lib.sh"
need_btf
need_perfetto

# lines: prints a line from time to time, until nobody reads it. The states between are in the sums.
lines() {
	trap '' PIPE
	while sleep 0.3 && echo 2>/dev/null; do :; done
}

# has_blocks N: whether the archive `steps` has a sum of N live blocks so far
has_blocks() {
	local found

	found=$({ "$KYMO" dump --json "$TMP/steps.raw" 2>/dev/null || true; } | { grep -F '"usage"' || true; } |
		gojq -s --argjson n "$1" 'any(.[].args[]?; .name == "blocks" and .value == $n)')
	[ "$found" = true ]
}

# lines_for_steps: prints a line for each step of 20 blocks, after the sums of the step before
lines_for_steps() {
	local blocks

	for blocks in 20 40 60 80; do
		echo
		expect_soon 20 has_blocks "$blocks" >&2
	done
	echo
}

# has_watches N MOST: whether N processes of the archive `children` are watched so far, and one of them
# for the MOSTth time
has_watches() {
	local found

	found=$({ "$KYMO" dump --json "$TMP/children.raw" 2>/dev/null || true; } | { grep -F '"watch"' || true; } |
		gojq -s --argjson n "$1" --argjson most "$2" '[.[] | select(.record == "event" and .name == "watch")
			.process_id] | (unique | length >= $n) and (group_by(.) | map(length) | max >= $most)')
	[ "$found" = true ]
}

# lines_for_children: prints a line for each step of the children, when they are watched
lines_for_children() {
	local watches

	for watches in '1 1' '2 1' '3 1' '3 2'; do
		# shellcheck disable=SC2086 # two numbers
		expect_soon 20 has_watches $watches >&2
		echo
	done
	echo
}

# record NAME OPTION ... -- ARGUMENT ...: records memory-load, which gets lines from $FEED, and
# exports the archive with names
FEED=lines
record() {
	local name=$1 options=()

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$FEED" |
		"$KYMO" record --direct --force -o "$TMP/$name.raw" -e memory "${options[@]}" \
			-- "$MEMORY_LOAD" "$@" >"$TMP/$name.json" 2>"$TMP/record.log" || {
		cat "$TMP/record.log" >&2
		fail "the recording $name failed"
	}
	expect_exit 0 "$KYMO" symbolize "$TMP/$name.raw" "$TMP/$name.fxt" --force
	expect_exit 0 "$KYMO" export "$TMP/$name.fxt" -o "$TMP/$name.pftrace" --force
	"$KYMO" leaks --json --top 100000 "$TMP/$name.fxt" >"$TMP/$name.leaks" || true
}

errors="select name, idx, value from stats where value != 0 and severity in ('error', 'data_loss')"
sums="select p.pid, sum(h.count) n, sum(h.size) bytes, count(distinct h.ts) times
	from heap_profile_allocation h join process p using (upid) group by 1 order by 1"
# (the memory of the program before an exec, which ends with it)
before="select p.pid, sum(h.size) bytes from heap_profile_allocation h join process p using (upid)
	where h.ts <= END group by 1"
stacks="select p.pid, f.name, sum(h.count) n, sum(h.size) bytes from heap_profile_allocation h
	join process p using (upid) join stack_profile_callsite c on c.id = h.callsite_id
	join stack_profile_frame f on f.id = c.frame_id group by 1, 2"

# compare NAME: compares the last state of each process with the report, and of each function
compare() {
	perfetto "$TMP/$1.pftrace" "$errors" "$sums" "$stacks" >"$TMP/answers"
	assert_eq "$(sed -n 1p "$TMP/answers")" "[]" "errors of import of $1"
	sed -n 2p "$TMP/answers" >"$TMP/$1.sums"
	sed -n 3p "$TMP/answers" >"$TMP/$1.stacks"
	gojq -r '.processes | map(select(.reason != "exec")) | group_by(.pid)[] | [.[].leaks[] |
		select(.resource == "memory")] as $l | [.[0].pid, ($l | map(.blocks) | add // 0),
		($l | map(.bytes) | add // 0)] | @tsv' "$TMP/$1.leaks" | grep -v "	0	0$" >"$TMP/reported"
	gojq -r '.[] | select(.n != 0 or .bytes != 0) | [.pid, .n, .bytes] | @tsv' "$TMP/$1.sums" >"$TMP/shown"
	sort -o "$TMP/reported" "$TMP/reported"
	sort -o "$TMP/shown" "$TMP/shown"
	diff "$TMP/reported" "$TMP/shown" >&2 || fail "Perfetto's memory (>) differs from the report (<): $1"
	assert_ge "$(wc -l <"$TMP/shown")" 1 "processes with memory"
	note "$1: as in the report: $(tr '\n\t' ', ' <"$TMP/shown")"
}

# stack NAME PID FUNCTION: the blocks and bytes of a function
stack() {
	gojq -r --argjson pid "$2" --arg name "$3" '[.[] | select(.pid == $pid and .name == $name)] |
		"\(map(.n) | add // 0) \(map(.bytes) | add // 0)"' "$TMP/$1.stacks"
}

note "snapshots and sums"
FEED=lines_for_steps record steps --usage-interval 50ms -- steps 20
compare steps
pid=$(gojq '.[0].pid' "$TMP/steps.sums")
assert_eq "$(stack steps "$pid" leak_malloc)" "80 8080" "the planted leaks"
assert_ge "$(gojq '.[0].times' "$TMP/steps.sums")" 4 "times with changes"

note "each event"
record log --memory-log -- work 10
compare log
pid=$(gojq .pid "$TMP/log.json")
n=$(gojq .leak_malloc "$TMP/log.json")
assert_eq "$(stack log "$pid" leak_malloc)" "$n $((101 * n))" "the planted leaks"

note "samples"
record samples --memory-interval 1K -- work 40
compare samples

note "children, and an exec"
FEED=lines_for_children record children --usage-interval 50ms -- children
compare children
second=$(gojq .second "$TMP/children.json")
assert_eq "$(stack children "$second" leak_in_grown)" "7 3108" "the leaks of the program after exec"
assert_eq "$(stack children "$second" leak_before_exec)" "0 0" "the leaks of the program before exec"
end=$(gojq --argjson pid "$second" '.processes[] | select(.pid == $pid and .reason == "exec") | .end_ns' "$TMP/children.leaks")
perfetto "$TMP/children.pftrace" "${before/END/$end}" >"$TMP/answers"
assert_eq "$(gojq --argjson pid "$second" '.[] | select(.pid == $pid) | .bytes' "$TMP/answers")" \
	"$(gojq --argjson pid "$second" '[.processes[] | select(.pid == $pid and .reason == "exec") | .leaks[] |
		select(.resource == "memory") | .bytes] | add' "$TMP/children.leaks")" "memory before exec"
