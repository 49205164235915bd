#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `kymo export --format parquet`: the tables of each archive have the same rows and sums as
# summary and dump. print-parquet also checks the files themselves.

. "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")/.." && pwd)
cd "$TMP" || exit 1
golden=$here/golden/fxt
corpus=$here/fuzz/corpus/fxt-reader
PRINT_PARQUET=${PRINT_PARQUET:-$(dirname "$KYMO")/../tests/support/print-parquet}

# rows TABLE: prints the rows of t/TABLE.parquet as one JSON array
rows() {
	"$PRINT_PARQUET" "t/$1.parquet" >rows.json || fail "t/$1.parquet cannot be read"
	gojq -sc . rows.json
}

# same NAME WANTED FOUND
same() {
	[ "$2" = "$3" ] || fail "$1: the views say $2, but the tables $3"
}

# The difference of the clocks that the tables add.
offset_of() {
	rows machine | gojq '.[0].boot // 0'
}

compare_threads() {
	local sums='cpu_ns, runnable_ns, blocked_ns, switches, preempted, wakeups'

	same "$1: threads" \
		"$(gojq -c "[.threads[] | {thread: .tid, $sums}] | sort_by(.thread)" summary.json)" \
		"$(rows threads | gojq -c "[.[] | {thread, $sums}]")"
	same "$1: processes" \
		"$(gojq -c '[.processes[] | {process: .pid, command_line}] | map(del(.. | nulls)) | map(if .command_line == "" then del(.command_line) else . end)' summary.json)" \
		"$(rows processes | gojq -c '[.[] | {process, command_line}] | map(del(.. | nulls))')"
}

compare_machine() {
	local also='start: (.start_ns + $offset), recorded_ns, unreported, complete'

	same "$1: machine" \
		"$(gojq -c --argjson offset "$(offset_of)" "{$also, switches: .events.switch,
			wakeups: .events.wakeup, migrations: .events.migrate}" summary.json)" \
		"$(rows machine | gojq -c '.[0] | {start, recorded_ns, unreported, complete, switches,
			wakeups, migrations}')"
}

compare_events() {
	local offset

	offset=$(offset_of)
	same "$1: losses" "$(gojq -c '.lost | with_entries(select(.value > 0))' summary.json)" \
		"$(rows losses | gojq -c '[group_by(.class)[] | {(.[0].class): (map(.count) | add)}] | add // {}')"
	same "$1: marks" \
		"$(gojq -c '[.marks[] | .text] | sort' summary.json)" "$(rows marks | gojq -c '[.[] | .text] | sort')"
	same "$1: times of marks" \
		"$(gojq -c '[.marks[] | .ts_ns] | sort' summary.json)" \
		"$(rows marks | gojq -c --argjson offset "$offset" '[.[] | .time - $offset |
			if . < 0 then . + 18446744073709551616 else . end] | sort')"
}

# The slices of each thread add up to its CPU time.
compare_slices() {
	same "$1: slices" \
		"$(gojq -c '[.threads[] | select(.cpu_ns > 0) | {thread: .tid, cpu_ns}] | sort_by(.thread)' summary.json)" \
		"$(rows slices | gojq -c '[group_by(.thread)[] | {thread: .[0].thread, cpu_ns: (map(.duration_ns) | add)}
			| select(.cpu_ns > 0)]')"
}

# compare_counters NAME ARCHIVE: each value of a counter has a row.
compare_counters() {
	"$KYMO" dump --json "$2" >dump.json 2>/dev/null || [ $? = 3 ]
	same "$1: counters" \
		"$(gojq -sc '[.[] | select(.event_type == "counter" and .category != "kymo")
			| .name as $name | .args[] | [$name, .name, .value]] | sort' dump.json)" \
		"$(rows counters | gojq -c '[.[] | select(.category != "kymo")
			| [.name, .field, .whole // .value]] | sort')"
}

# Samples by function: the innermost function at the innermost frame.
compare_samples() {
	rows samples >samples.json
	rows stacks >stacks.json
	rows frames >frames.json
	same "$1: samples" "$(gojq '.profile.samples // 0' summary.json)" "$(gojq length samples.json)"
	same "$1: functions" \
		"$(gojq -c '[.profile.functions[]? | select(.self > 0 and (.name | startswith("[") | not)
			and (.name | contains("+0x") | not)) | {(.name): .self}] | add // {}' summary.json)" \
		"$(gojq -nc --slurpfile samples samples.json --slurpfile stacks stacks.json \
			--slurpfile frames frames.json '
			($stacks[0] | map(select(.position == 0) | {"\(.stack)": .frame}) | add) as $first |
			($frames[0] | map(select(.depth == 0) | {"\(.frame)": .function}) | add) as $names |
			[$samples[0][] | $names["\($first["\(.stack)"])"] | select(.)] | group_by(.)
			| map({(.[0]): length}) | add // {}')"
}

# compare_waits NAME: each time off CPU has a row; dump.json is made.
compare_waits() {
	same "$1: times off CPU" \
		"$(gojq -sc '[.[] | select(.name == "offcpu" and .category == "profile")
			| [.thread_id, .end_time_ns - .timestamp_ns]] | sort' dump.json)" \
		"$(rows waits | gojq -c '[.[] | [.thread, .duration_ns]] | sort')"
}

# compare_calls NAME ARCHIVE: each call has a row, with its arguments.
compare_calls() {
	"$KYMO" calls --json "$2" >calls.json 2>/dev/null || :
	same "$1: calls" \
		"$(gojq -sc '[.[] | select(.duration_ns) | [.thread_id, .function, .duration_ns, .left_by,
			(.arguments | length)]] | sort' calls.json)" \
		"$(rows calls | gojq -c '[.[] | [.thread, .function, .duration_ns, .end,
			(.arguments // "" | [scan("[^ ,=]+=")] | length)]] | sort')"
}

# compare ARCHIVE STATUS
compare() {
	local name=${1##*/}

	rm -rf t
	expect_exit "$2" "$KYMO" export "$1" -o t --format parquet
	"$KYMO" summary --no-symbols --json "$1" >summary.json 2>/dev/null || [ $? = 3 ]
	compare_machine "$name"
	compare_threads "$name"
	compare_events "$name"
	compare_counters "$name" "$1"
	compare_samples "$name"
	compare_waits "$name"
	compare_calls "$name" "$1"
}

for archive in "$golden/events.fxt" "$golden/profile.fxt" "$corpus/small" "$corpus/cut-off"; do
	compare "$archive" 0
done
compare "$corpus/damaged" 3
for archive in "$corpus/small" "$golden/profile.fxt"; do
	compare "$archive" 0
	compare_slices "${archive##*/}"
done

# ---- allocations ----

# The live blocks, by stack, as `kymo leaks` counts them.
leaks_of() {
	"$KYMO" leaks --no-symbols --json "$1" >leaks.json 2>/dev/null
	gojq -c '[.processes[].leaks[] | [.resource, .blocks, .bytes]] | sort' leaks.json
}

"$MAKE_PROFILE" demo.fxt <"$here/golden/leaks/demo"
compare demo.fxt 0
same "demo: blocks" "$(leaks_of demo.fxt)" \
	"$(rows blocks | gojq -c '[group_by([.resource, .stack])[]
		| [.[0].resource, length, (map(.size) | add)]] | sort')"
assert_eq "$(rows blocks | gojq -c 'map([.snapshot, .final]) | unique')" "[[1,true]]"
same "demo: sums" "$(gojq -sc '[.[] | select(.name == "usage" and .category == "memory") | .args
		| map({(.name): .value}) | add | [.blocks, .bytes, .allocations, .allocated_bytes]] | sort' dump.json)" \
	"$(rows usage | gojq -c '[.[] | [.blocks, .bytes, .allocations, .allocated_bytes]] | sort')"
# Without snapshots: allocations that were not freed.
"$MAKE_PROFILE" log.fxt <"$here/golden/leaks/log"
compare log.fxt 0
same "log: allocations" "$(leaks_of log.fxt | gojq -c '[(map(.[1]) | add), (map(.[2]) | add)]')" \
	"$(rows allocations | gojq -c 'reduce sort_by(.time)[] as $e ({}; if $e.what == "alloc"
		then .["\($e.resource) \($e.id)"] = $e.size else del(.["\($e.resource) \($e.id)"]) end)
		| [length, add]')"

# ---- the directory ----

rm -rf t
cp "$corpus/small" a.fxt
expect_exit 0 "$KYMO" export a.fxt -o t.parquet
n=$(find t.parquet -type f | wc -l)
assert_says stderr "t.parquet: $n tables"
assert_eq "$(stat -c %a t.parquet/slices.parquet)" 600
expect_exit 1 "$KYMO" export a.fxt -o t.parquet
assert_says stderr "the directory t.parquet is not empty; --force replaces its tables"
cp t.parquet/slices.parquet before
expect_exit 0 "$KYMO" export --force a.fxt -o t.parquet
cmp before t.parquet/slices.parquet || fail "the same archive made other tables"
assert_eq "$(find t.parquet -type f | wc -l)" "$n"
expect_exit 2 "$KYMO" export a.fxt -o - --format parquet
assert_says stderr "parquet tables are written to a directory, so '-o -' is not possible"
expect_exit 2 "$KYMO" export a.fxt -o u --format parquet --compress=gzip
assert_says stderr "omit --compress"
# An input that is no archive leaves no tables.
echo "no archive" >no.fxt
expect_exit 1 "$KYMO" export no.fxt -o u --format parquet
[ ! -e u ] || assert_eq "$(find u -type f)" ""
# Whatever an archive has, the files are correct.
for archive in "$corpus"/*; do
	rm -rf t
	expect_exit "0|1|3" "$KYMO" export "$archive" -o t --format parquet
	for table in t/*.parquet; do
		[ ! -e "$table" ] || "$PRINT_PARQUET" "$table" >/dev/null || fail "$archive: $table"
	done
done
# A full disk leaves no half tables.
mkdir full
if mount -t tmpfs -o size=16k tmpfs full 2>/dev/null; then
	at_exit umount full
	expect_exit 1 "$KYMO" export "$golden/events.fxt" -o full/t --format parquet
	assert_says stderr "No space left on device"
	assert_eq "$(find full/t -type f)" ""
fi
# (from a pipe)
rm -rf t
"$KYMO" export - -o t --format parquet <a.fxt 2>/dev/null || fail "no tables of standard input"
cmp before t/slices.parquet || fail "standard input made other tables"

# ---- an export that does not end ----

# begin_export DIR [OPTION]: starts an export to DIR whose input does not end, and waits until it has
# opened all files; the descriptor 9 is its input
begin_export() {
	rm -f in
	mkfifo in
	"$KYMO" export - -o "$@" --format parquet <in 2>stderr &
	exporter=$!
	exec 9>in
	cat a.fxt >&9
	expect_soon 20 has_hidden "$1"
}

has_hidden() {
	[ "$(find "$1" -name '.kymo-*' | wc -l)" = "$n" ]
}

# end_export STATUS
end_export() {
	local status=0

	wait "$exporter" || status=$?
	exec 9>&-
	assert_eq "$status" "$1"
}

# (a shell starts commands in the background with SIGINT ignored)
for signal in HUP TERM; do
	rm -rf t
	begin_export t
	assert_eq "$(find t -name '*.parquet')" ""
	kill -"$signal" "$exporter"
	end_export $((128 + $(kill -l "$signal")))
	assert_eq "$(find t -type f)" ""
done
# Existing tables stay.
rm -rf t
cp -r t.parquet t
begin_export t --force
kill "$exporter"
end_export 143
diff -r t.parquet t || fail "a killed export changed existing tables"
# After SIGKILL no table has a name.
rm -rf t
begin_export t
kill -KILL "$exporter"
end_export 137
assert_eq "$(find t -type f ! -name '.kymo-*')" ""
# The directory goes away.
rm -rf t
begin_export t
rm -r t
exec 9>&-
end_export 1
assert_says stderr "cannot write t/sheds.parquet: its directory was removed"
[ ! -e t ] || fail "the directory is there again"
