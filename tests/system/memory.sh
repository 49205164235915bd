#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Allocations that are not freed: exactly the planted ones are found, with correct stacks, also in
# children, after exec, and from the middle of a run. No other process has probes, and none are
# left.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../load-words.sh"
need_btf
need_bus
need_command nm
start_bus

# start_memory_load NAME ARGUMENT ...: starts a load that waits for go_memory_load. Its pid is
# ${LOADS[NAME]}.
declare -A LOADS LOAD_FD
start_memory_load() {
	local name=$1 fd

	shift
	rm -f "$TMP/$name.fifo"
	mkfifo "$TMP/$name.fifo"
	exec {fd}<>"$TMP/$name.fifo"
	LOAD_FD[$name]=$fd
	(
		exec {fd}>&-
		exec "$MEMORY_LOAD" "$@" <"$TMP/$name.fifo" >"$TMP/$name.json"
	) &
	LOADS[$name]=$!
	expect_soon 5 grep -qx memory-load "/proc/$!/comm"
	expect_soon 5 is_asleep "$!"
}

go_memory_load() {
	echo >&"${LOAD_FD[$1]}"
}

end_memory_load() {
	local fd=${LOAD_FD[$1]}

	kill "${LOADS[$1]}" 2>/dev/null || true
	wait "${LOADS[$1]}" 2>/dev/null || true
	exec {fd}>&-
}

# Waits until load $1 has printed its truth.
done_memory_load() {
	expect_soon 60 holds "$TMP/$1.json" 'length == 1' -s
	expect_soon 5 is_asleep "${LOADS[$1]}"
}

patched() {
	"$MEMORY_LOAD" patched "$1"
}

is_patched() {
	[ "$(patched "$1")" -gt 0 ]
}

# shellcheck disable=SC2317 # expect_soon does
is_whole() {
	[ "$(patched "$1")" = 0 ]
}

# begin_recording FILE [record option ...]: records with --direct, and waits until load $LOAD has
# its probes
begin_recording() {
	local file=$1

	shift
	rm -f "$file"
	"$KYMO" record --direct -o "$file" "$@" 2>"$TMP/record.log" &
	RECORDER=$!
	expect_soon 20 is_patched "$LOAD"
	# (the begin of the watch is then in the file)
	expect_soon 20 has_watch "$file" "$LOAD"
}

end_recording() {
	kill -INT "$RECORDER"
	wait "$RECORDER" || {
		cat "$TMP/record.log" >&2
		fail "the recording failed"
	}
}

# watches FILE PID: prints the watches so far, one object per line
watches() {
	{ "$KYMO" dump --json "$1" 2>/dev/null || true; } | { grep -F '"watch"' || true; } |
		gojq -c --argjson pid "$2" 'select(.record == "event" and .name == "watch" and
			.process_id == $pid)'
}

has_watch() {
	[ "$(watches "$1" "$2" | wc -l)" -ge "${3:-1}" ]
}

list_functions "$MEMORY_LOAD" >"$TMP/functions"

# blocks FILE PID: prints the blocks of its snapshots, summed up by size, one row each: blocks,
# bytes, function of the allocator, calling functions of the load, innermost first. "." is a
# function of another file.
blocks() {
	"$LIST_STACKS" "$1" | awk -v program="$MEMORY_LOAD" -v pid="$2" '
		NR == FNR { from[NR] = $1; to[NR] = $2; name[NR] = $3; n = NR; next }
		$1 == "block" && $3 == pid && $5 == "memory" {
			line = $6
			for (f = 7; f <= NF; f++) {
				found = "."
				at = substr($f, length(program) + 2)
				if (index($f, program "+") == 1)
					for (i = 1; i <= n; i++)
						if (at "" > from[i] "" && at "" <= to[i] "")
							found = name[i]
				line = line " " found
			}
			n_blocks[$4 " " line]++
		}
		END {
			for (key in n_blocks) {
				line = key
				sub(/^[0-9]+ /, "", line)
				print n_blocks[key], n_blocks[key] * (key + 0), line
			}
		}' "$TMP/functions" - | sort
}

# watched FIELD FILE PID [REASON]: prints a field of the event at the end of a watch
watched() {
	dump_records "$2"
	events watched | gojq -r --argjson pid "$3" --arg reason "${4:-stop}" \
		"select(.process_id == \$pid and .args.reason == \$reason) | .args.$1"
}

# usage FILE PID: prints the last sums of all stacks together: live blocks, live bytes
usage() {
	dump_records "$1"
	events usage | gojq -rs --argjson pid "$2" 'map(select(.process_id == $pid)) |
		group_by(.args.stack) | map(last.args) |
		"\(map(.blocks) | add) \(map(.bytes) | add)"'
}

# check_planted FILE NAME: compares the leaks of load NAME with its truth
check_planted() {
	local pid=${LOADS[$2]} truth=$TMP/$2.json

	blocks "$1" "$pid" >"$TMP/found"
	gojq -r '"\(.leak_malloc) \(101 * .leak_malloc) malloc leak_malloc work main . . _start",
		"\(.leak_calloc) \(123 * .leak_calloc) calloc leak_calloc work main . . _start",
		"\(.leak_grown) \(2003 * .leak_grown) realloc leak_grown work main . . _start",
		"\(.leak_aligned) \(307 * .leak_aligned) posix_memalign leak_aligned work main . . _start",
		"\(.leak_aligned) \(128 * .leak_aligned) memalign leak_aligned work main . . _start",
		"\(.leak_aligned) \(53 * .leak_aligned) memalign leak_aligned work main . . _start",
		"\(.leak_not_grown) \(79 * .leak_not_grown) malloc leak_not_grown work main . . _start",
		"\(.leak_in_thread) \(207 * .leak_in_thread) malloc leak_in_thread be_thread . ."' \
		"$truth" >"$TMP/planted"
	# (if aligned_alloc() is not an alias of memalign(), it has its own name)
	sed -i 's/ aligned_alloc / memalign /' "$TMP/found"
	# Blocks that the C library keeps from an ended thread for reuse are not planted:
	# pthread_create() allocated them.
	grep -v ' calloc \. \. \. work main ' "$TMP/found" >"$TMP/found.planted" || true
	sort "$TMP/planted" | diff - "$TMP/found.planted" >&2 ||
		fail "the reported leaks (>) differ from the planted ones (<)"
	assert_eq "$(watched failed "$1" "$pid")" "$(json "$truth" .failed)" "failed allocations"
	assert_eq "$(watched lost "$1" "$pid") $(watched full "$1" "$pid") $(watched no_stack "$1" "$pid")" \
		"0 0 0" "missing parts"
}

note "planted leaks, from the middle of a run"
start_memory_load other work 1
start_memory_load work work 100
LOAD=${LOADS[work]}
remember_bpf
begin_recording "$TMP/work.fxt" -e memory -p "$LOAD"
assert_eq "$(patched "${LOADS[other]}")" 0 "bytes changed in a process that was not selected"
go_memory_load work
done_memory_load work
end_recording
assert_eq "$(patched "$LOAD")" 0 "bytes changed after the end"
no_bpf_left "a recording of what is allocated"
check_planted "$TMP/work.fxt" work
# When a thread ends, glibc frees the blocks in its cache, which the program did not allocate at
# that time.
assert_ge "$(watched unmatched "$TMP/work.fxt" "$LOAD")" "$(json "$TMP/work.json" .unmatched)" \
	"frees of what was there before"
assert_le "$(watched unmatched "$TMP/work.fxt" "$LOAD")" \
	"$(($(json "$TMP/work.json" .unmatched) + 8))" "frees of what was there before"
"$LIST_STACKS" "$TMP/work.fxt" | grep '^block' >"$TMP/all"
assert_eq "$(usage "$TMP/work.fxt" "$LOAD")" \
	"$(awk '{ n++; bytes += $4 } END { print n, bytes }' "$TMP/all")" "the last sums, and the blocks"
expect_exit 0 "$KYMO" check "$TMP/work.fxt"
end_memory_load work

note "two processes under one session, by the service"
start_kymod
start_memory_load one work 40
start_memory_load two work 30
expect_exit 0 "$KYMO" start pair -e memory -p "${LOADS[one]},${LOADS[two]}" -o "$TMP/pair.fxt" --bus "$BUS"
for name in one two; do
	expect_soon 20 has_watch "$TMP/pair.fxt" "${LOADS[$name]}"
done
go_memory_load one
go_memory_load two
done_memory_load one
done_memory_load two
expect_exit 0 "$KYMO" stop pair --bus "$BUS"
check_planted "$TMP/pair.fxt" one
check_planted "$TMP/pair.fxt" two
assert_eq "$(patched "${LOADS[two]}")" 0 "bytes changed after the end"
end_memory_load one

# has_done NAME N: whether load NAME has done N steps, and waits
has_done() {
	[ "$(wc -l <"$TMP/$1.json")" -ge "$2" ] && is_asleep "${LOADS[$1]}"
}

# snapshots FILE PID: prints one row per snapshot: its number, whether it is the last one, the
# announced and the actual number of blocks, and the numbers of blocks of the load's malloc() and of
# descriptors
snapshots() {
	dump_records "$1"
	grep -E '"(snapshot|block)"' "$DUMP" | gojq -r --argjson pid "$2" '
		select(.record == "event" and .process_id == $pid) | .args |= from_entries |
		if .name == "snapshot" then "snapshot \(.args.sequence) \(.args.final) \(.args.blocks)"
		elif .name == "block" then "block \(.args.resource) \(.args.size)"
		else empty end' | awk '
		function out() { if (head) print head, n, planted + 0, fds + 0 }
		$1 == "snapshot" { out(); head = $2 " " $3 " " $4; n = planted = fds = 0 }
		$1 == "block" { n++ }
		$1 == "block" && $2 == "memory" && $3 == 101 { planted++ }
		$1 == "block" && $2 == "fd" { fds++ }
		END { out() }'
}

# leaks_found FILE PID [OPTION ...]: prints the report of kymo leaks for the load's malloc() and for
# descriptors
leaks_found() {
	"$KYMO" leaks --json -p "$2" "${@:3}" "$1" | gojq -r '[.processes[].leaks[]] |
		"\([.[] | select(.resource == "memory") | .blocks] | add) \([.[] | select(.resource == "fd") | .blocks] | add)"'
}

note "a session that ends while it begins to watch processes"
cp "$(type -P sleep)" "$TMP/many"
for _ in {1..40}; do
	"$TMP/many" 1000 &
done
# Wherever it is then, each process is watched, or is reported as not watched.
for pause in 0 0.1 0.2 0.4; do
	"$KYMO" start early -e memory --comm many -o "$TMP/early.fxt" --bus "$BUS" &
	starter=$!
	sleep "$pause"
	expect_soon 20 "$KYMO" stop early --bus "$BUS"
	wait "$starter" || fail "kymo start has failed"
	"$KYMO" leaks --json --allow-unwatched "$TMP/early.fxt" >"$TMP/early.json" 2>"$TMP/stderr" || true
	assert_eq "$(json "$TMP/early.json" '[.processes[] | select(.process == "many").pid] | unique | length')" 40 \
		"processes after $pause s: $(json "$TMP/early.json" '.processes | group_by(.unwatched)[] | "\(.[0].unwatched) \(length)"')"
	rm "$TMP/early.fxt"
done
for pid in $(jobs -rp); do
	[ "$(cat "/proc/$pid/comm")" != many ] || kill "$pid"
done

note "snapshots while it runs"
start_memory_load steps steps 1000
LOAD=${LOADS[steps]}
expect_exit 0 "$KYMO" start live -e memory,fd -p "$LOAD" -o "$TMP/live.fxt" --bus "$BUS"
expect_soon 20 is_patched "$LOAD"
expect_soon 20 has_watch "$TMP/live.fxt" "$LOAD"
# The file can be read while it is being written.
is_readable() {
	"$KYMO" leaks -p "$LOAD" "$TMP/live.fxt" >"$TMP/stdout" 2>"$TMP/stderr"
}
for step in 1 2; do
	# The allocations of the second step belong to a context.
	[ $step = 1 ] || expect_exit 0 "$KYMO" context live begin second --bus "$BUS"
	go_memory_load steps
	expect_soon 10 has_done steps "$step"
	expect_exit 0 "$KYMO" snapshot live --bus "$BUS"
	is_there() {
		snapshots "$TMP/live.fxt" "$LOAD" 2>/dev/null | grep -x "$step false $((step * 1001)) $((step * 1001)) .*" >/dev/null
	}
	expect_soon 10 is_there
	# The archive has no end yet, which is not damage.
	expect_soon 10 is_readable
	assert_empty "$TMP/stderr" "the messages of kymo leaks"
	assert_says "$TMP/stdout" "from the last snapshot, number $step, taken " "since when it holds"
	assert_eq "$(leaks_found "$TMP/live.fxt" "$LOAD")" "$((step * 1000)) $step" "leaks so far"
done
expect_exit 0 "$KYMO" context live end second --bus "$BUS"
go_memory_load steps
expect_soon 10 has_done steps 3
expect_exit 0 "$KYMO" stop live --bus "$BUS"
snapshots "$TMP/live.fxt" "$LOAD" >"$TMP/found"
printf '%s\n' "1 false 1001 1001 1000 1" "2 false 2002 2002 2000 2" "3 true 3003 3003 3000 3" |
	diff - "$TMP/found" >&2 || fail "snapshots (>) are not what was planted (<)"
assert_eq "$(leaks_found "$TMP/live.fxt" "$LOAD")" "3000 3" "leaks at the end"
assert_eq "$(leaks_found "$TMP/live.fxt" "$LOAD" --context second)" "1000 1" "leaks of the context"
expect_exit 0 "$KYMO" leaks -p "$LOAD" "$TMP/live.fxt"
assert_eq "$(grep -c "last snapshot" "$TMP/stdout")" 0 "words about a snapshot that is the end's"
expect_exit 0 "$KYMO" check "$TMP/live.fxt"
end_memory_load steps

note "the end of the service"
expect_exit 0 "$KYMO" start doomed -e memory -p "${LOADS[two]}" -o "$TMP/doomed.fxt" --bus "$BUS"
expect_soon 20 is_patched "${LOADS[two]}"
kill -KILL "$KYMOD_PID"
wait "$KYMOD_PID" 2>/dev/null || true
# (by the attacher, when it notices)
expect_soon 5 is_whole "${LOADS[two]}"
no_bpf_left "kill -9 of kymod"
end_memory_load two

note "a process that ends before the recording does"
start_memory_load short work 20
LOAD=${LOADS[short]}
begin_recording "$TMP/short.fxt" -e memory -p "$LOAD"
go_memory_load short
done_memory_load short
go_memory_load short
expect_soon 5 has_ended "$LOAD"
end_recording
# (blocks that are live at the end of a program are live at the end of the watch)
blocks "$TMP/short.fxt" "$LOAD" >"$TMP/found"
assert_contains "$TMP/found" '^20 2020 malloc leak_malloc work main' "blocks of a process that has ended"
assert_eq "$(watched lost "$TMP/short.fxt" "$LOAD" exit)" 0 "lost blocks of it"
end_memory_load short

note "children, and exec"
start_memory_load family children
LOAD=${LOADS[family]}
begin_recording "$TMP/family.fxt" -e memory -p "$LOAD"
go_memory_load family
first=
second=
child_of() {
	pgrep -P "$LOAD" >"$TMP/child"
}
expect_soon 10 child_of
first=$(cat "$TMP/child")
expect_soon 10 has_watch "$TMP/family.fxt" "$first"
go_memory_load family
another_child() {
	pgrep -P "$LOAD" >"$TMP/child" && [ "$(cat "$TMP/child")" != "$first" ]
}
expect_soon 10 another_child
second=$(cat "$TMP/child")
expect_soon 10 has_watch "$TMP/family.fxt" "$second"
go_memory_load family
expect_soon 10 has_watch "$TMP/family.fxt" "$second" 2
go_memory_load family
done_memory_load family
end_recording
blocks "$TMP/family.fxt" "$first" >"$TMP/found"
echo "4 888 malloc leak_in_child children main . . _start" | diff - "$TMP/found" >&2 || fail "blocks of the first child"
assert_eq "$(watched unmatched "$TMP/family.fxt" "$first" exit)" 3 "inherited blocks that the child freed"
blocks "$TMP/family.fxt" "$second" >"$TMP/found"
printf '%s\n' "2 666 malloc leak_before_exec children main . . _start" "7 3108 malloc leak_in_grown grown main . . _start" |
	diff - "$TMP/found" >&2 || fail "blocks of the second child"
assert_eq "$(watches "$TMP/family.fxt" "$second" | gojq -r '.args[] | select(.name == "complete").value' |
	paste -sd ' ')" "false true" "whether all is known of the child's two programs"
assert_eq "$(blocks "$TMP/family.fxt" "$LOAD")" "" "blocks that the parent did not lose"
assert_eq "$(watched unmatched "$TMP/family.fxt" "$LOAD")" 0 "unknown blocks that the parent freed"
end_memory_load family

note "each allocation and each free"
start_memory_load logged work 100
LOAD=${LOADS[logged]}
begin_recording "$TMP/logged.fxt" -e memory -p "$LOAD" --memory-log
go_memory_load logged
done_memory_load logged
end_recording
check_planted "$TMP/logged.fxt" logged
summarize "$TMP/logged.fxt"
assert_no_loss
dump_records "$TMP/logged.fxt"
events alloc >"$TMP/allocs"
events free >"$TMP/frees"
"$LIST_STACKS" "$TMP/logged.fxt" | grep -c '^block' >"$TMP/n"
assert_eq $(($(wc -l <"$TMP/allocs") - $(wc -l <"$TMP/frees"))) "$(cat "$TMP/n")" \
	"allocations less frees, and blocks"
end_memory_load logged

note "small blocks are passed over"
start_memory_load small work 50
LOAD=${LOADS[small]}
begin_recording "$TMP/small.fxt" -e memory -p "$LOAD" --memory-min 250
go_memory_load small
done_memory_load small
end_recording
blocks "$TMP/small.fxt" "$LOAD" | grep -v ' calloc \. \. \. work main ' >"$TMP/found"
printf '%s\n' "10 20030 realloc leak_grown work main . . _start" "5 1535 posix_memalign leak_aligned work main . . _start" |
	diff - "$TMP/found" >&2 || fail "blocks of at least 250 bytes"
end_memory_load small

note "a table that is too small says so"
start_memory_load full work 1500
LOAD=${LOADS[full]}
begin_recording "$TMP/full.fxt" -e memory -p "$LOAD" --memory-blocks 1024
go_memory_load full
done_memory_load full
end_recording
blocks "$TMP/full.fxt" "$LOAD" | awk '{ n += $1 } END { print n }' >"$TMP/n"
assert_le "$(cat "$TMP/n")" 1024 "blocks of a table for 1024"
assert_ge "$(watched full "$TMP/full.fxt" "$LOAD")" 1500 "allocations that there was no room for"
end_memory_load full

note "sampling"
start_memory_load sampled work 40000
LOAD=${LOADS[sampled]}
begin_recording "$TMP/sampled.fxt" -e memory -p "$LOAD" --memory-interval 4096
go_memory_load sampled
done_memory_load sampled
end_recording
# Each sampled block represents 1 / (1 - exp(-size / interval)) blocks. 40000 blocks of 101 bytes
# give about 970 samples: the error is 3 %, and 15 % once in a million runs.
blocks "$TMP/sampled.fxt" "$LOAD" |
	awk '$4 == "leak_malloc" { print int($1 / (1 - exp(-101 / 4096))) }' >"$TMP/n"
assert_within "$(cat "$TMP/n")" 40000 17 "blocks, estimated by the samples"
end_memory_load sampled

note "unsupported combinations"
expect_exit 2 "$KYMO" record --direct -d 1 -e memory -o "$TMP/no.fxt"
assert_says "$TMP/stderr" 'add a filter' "the message without a filter"
expect_exit 2 "$KYMO" record --direct -d 1 --memory-log -p $$ -o "$TMP/no.fxt"
assert_says "$TMP/stderr" "among the categories" "the message without the category"
end_memory_load other
