#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Lost blocks: the results of the search equal the program's own knowledge of its blocks, while it
# runs and while it is stopped. The program continues afterwards.

. "$(dirname "$0")/../lib.sh"
need_btf

# found FILE: prints the blocks by size and reach, one row each
found() {
	dump_records "$1"
	# (earlier blocks of bash do not matter)
	events block | gojq -rs 'map(select(.args | has("reach"))) | group_by([.args.size, .args.reach]) | .[] |
		"\(.[0].args.size) \(.[0].args.reach) \(length)"'
}

# watches FILE: how many processes are watched by now, from their first instruction if $2 says so
watches() {
	{ "$KYMO" dump --json "$1" 2>/dev/null || true; } | { grep -F '"watch"' || true; } |
		gojq -s --argjson complete "$2" 'map(select(.record == "event" and .name == "watch" and
			any(.args[]; .name == "complete" and .value == $complete))) | length'
}

is_watched() {
	[ "$(watches "$1" "$2")" -gt 0 ]
}

# recorded HOW FILE OPTION ...: records a load from its first instruction (HOW: exec), or while it
# runs (attach)
recorded() {
	local how=$1 file=$2 load

	shift 2
	rm -f "$file" "$TMP/go" "$TMP/out"
	mkfifo "$TMP/go"
	exec 9<>"$TMP/go"
	if [ "$how" = exec ]; then
		bash -c 'read -r line; exec "$REACH_LOAD" plant 20' <"$TMP/go" >"$TMP/out" 9>&- &
	else
		"$REACH_LOAD" plant 20 <"$TMP/go" >"$TMP/out" 9>&- &
	fi
	load=$!
	"$KYMO" record --direct -o "$file" -e memory -p "$load" "$@" 2>"$TMP/record.log" 9>&- &
	RECORDER=$!
	expect_soon 30 is_watched "$file" false
	if [ "$how" = exec ]; then
		echo >&9
		expect_soon 30 is_watched "$file" true
	fi
	echo >&9
	expect_soon 60 holds "$TMP/out" 'length == 1' -s
	expect_soon 5 is_asleep "$load"
	kill -INT "$RECORDER"
	wait "$RECORDER" || {
		cat "$TMP/record.log" >&2
		fail "the recording failed"
	}
	# It continues as before.
	expect_soon 5 is_asleep "$load"
	assert_eq "$(awk '/^TracerPid/ { print $2 }' "/proc/$load/status")" 0 "its tracer"
	kill "$load"
	wait "$load" || true
	exec 9>&-
}

# searched FILE: why its searched watches have ended
searched() {
	dump_records "$1"
	events watched | gojq -r 'select(.args.reachable) | .args.reason'
}

# check_found FILE: compares FILE with $TMP/planted
check_found() {
	found "$1" | grep -E '^(160|200|240|280|320|400|480|560|640|720|800) ' >"$TMP/found" || true
	diff "$TMP/planted" "$TMP/found" >&2 || fail "the reported leaks (>) differ from the planted ones (<)"
	expect_exit 0 "$KYMO" check "$1"
}

cat >"$TMP/planted" <<-END
	160 lost 20
	200 lost 20
	240 reachable 20
	280 possible 20
	320 indirect 19
	320 lost 1
	400 reachable 20
	480 reachable 20
	560 reachable 20
	640 reachable 20
	720 reachable 1
	800 reachable 20
END

for reach in look freeze; do
	note "a program that is watched from its first instruction: $reach"
	remember_bpf
	recorded exec "$TMP/$reach.fxt" --reach "$reach"
	check_found "$TMP/$reach.fxt"
	assert_eq "$(searched "$TMP/$reach.fxt")" stop "the ends of searched watches"
	no_bpf_left "a search"
done

note "from the middle of a run, memory that was freed may be anything"
recorded attach "$TMP/attach.fxt" --reach freeze
sed -i 's/160 lost/160 reachable/' "$TMP/planted"
check_found "$TMP/attach.fxt"

for size in 24 40; do
	note "$size bytes at the top of the heap, as the only block"
	gcc -O0 -w -o "$TMP/top" -x c - <<<"#include <stdlib.h>
		int main(void) { malloc($size); return 0; }"
	expect_exit 4 "$KYMO" leaks --direct --reach look --verdict lost --fail-over 0 --json -- "$TMP/top"
	assert_eq "$(gojq '.processes[0].leaks[0].reach.lost' "$TMP/stdout")" 1 "lost blocks"
done

note "nobody asked"
recorded attach "$TMP/no.fxt"
dump_records "$TMP/no.fxt"
assert_ge "$(events block | wc -l)" 181 "blocks"
assert_eq "$(events block | gojq -s 'map(select(.args | has("reach"))) | length')" 0 "blocks with an answer"
assert_eq "$(searched "$TMP/no.fxt")" "" "the ends of searched watches"

note "contradictory options are refused"
expect_exit 2 "$KYMO" record --direct -o "$TMP/x.fxt" -e memory -p 1 --reach far
assert_says "$TMP/stderr" "'far' is not one of no, look, freeze"
expect_exit 2 "$KYMO" record --direct -o "$TMP/x.fxt" --reach look
assert_says "$TMP/stderr" "needs 'memory' among the categories"
