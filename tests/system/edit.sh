#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# edit.sh [N]: repair, cut, merge and redact on real recordings: results are clean, parts add up to
# the whole, and Perfetto accepts all of them. A recording that was cut at random places, N times,
# and merged again has each of its records once.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command dd

rounds=${1:-2}

# edit VERB ARGUMENT ...
edit() {
	expect_exit 0 "$KYMO" "$@"
}

# cpu_times FILE ...: prints the CPU time of each thread in all files together, by the kernel's tid.
# (One of two archives may not know the process of a thread.)
cpu_times() {
	local file

	for file in "$@"; do
		summarize "$file"
		json "$SUMMARY" '.threads[] | select(.cpu_ns > 0) |
			[.tid % 4194304, .cpu_ns] | @tsv'
	done | awk '{ ns[$1] += $2 } END { for (tid in ns) print tid, ns[tid] }' | sort
}

busy() {
	cat >"$TMP/load.sh" <<-END
		"$KYMO_LOAD" --out "$TMP/pingpong.json" pingpong $1 &
		"$KYMO_LOAD" --out "$TMP/procs.json" procs $2
		wait
		sleep 0.2
	END
	echo "$TMP/load.sh"
}

record_around "$TMP/whole.fxt" -- bash "$(busy 1500 130)"
summarize "$TMP/whole.fxt"
ns=$(json "$SUMMARY" .duration_ns)
t1=$((ns / 3)) t2=$((ns * 2 / 3))

note "parts of it add up to the whole"
edit cut --to "${t1}ns" "$TMP/whole.fxt" "$TMP/p1.fxt"
edit cut --from "${t1}ns" --to "${t2}ns" "$TMP/whole.fxt" "$TMP/p2.fxt"
edit cut --from "${t2}ns" "$TMP/whole.fxt" "$TMP/p3.fxt"
cpu_times "$TMP/whole.fxt" >"$TMP/whole.times"
assert_ge "$(wc -l <"$TMP/whole.times")" 100 "threads with CPU time"
cpu_times "$TMP/p1.fxt" "$TMP/p2.fxt" "$TMP/p3.fxt" >"$TMP/parts.times"
diff "$TMP/whole.times" "$TMP/parts.times" >&2 || fail "CPU times of the parts are not those of the whole"

note "merged, they are the whole again"
edit merge "$TMP/p3.fxt" "$TMP/p1.fxt" "$TMP/p2.fxt" "$TMP/merged.fxt"
cpu_times "$TMP/merged.fxt" >"$TMP/merged.times"
diff "$TMP/whole.times" "$TMP/merged.times" >&2 || fail "CPU times of the merged parts"
dump_records "$TMP/whole.fxt"
assert_eq "$(events session_start | gojq -r .args.host)" "$(uname -n)" "the host of a recording"
switches | awk '!$6' | sort >"$TMP/whole.switches"
dump_records "$TMP/merged.fxt"
switches | awk '!$6' | sort | cmp - "$TMP/whole.switches" || fail "switches of the merged parts"

note "one process and one CPU"
pid=$(json "$TMP/pingpong.json" '.threads[0] // .pid')
of_process() {
	summarize "$1"
	json "$SUMMARY" ".threads[] | select(.pid == $pid and .cpu_ns > 0) |
		[.tid, .cpu_ns] | @tsv" | sort
}
edit cut --pid "$pid" "$TMP/whole.fxt" "$TMP/pid.fxt"
of_process "$TMP/whole.fxt" >"$TMP/whole.threads"
assert_ge "$(wc -l <"$TMP/whole.threads")" 2 "threads of process $pid"
of_process "$TMP/pid.fxt" | diff - "$TMP/whole.threads" >&2 || fail "CPU times of process $pid"
edit cut --cpu 0 "$TMP/whole.fxt" "$TMP/cpu.fxt"
summarize "$TMP/cpu.fxt"
assert_eq "$(json "$SUMMARY" '[.cpus[] | select(.busy_ns > 0) | .cpu] | @csv')" 0 "CPUs of --cpu 0"

note "repair changes nothing that is good"
edit repair --json "$TMP/whole.fxt" "$TMP/same.fxt"
assert_eq "$(gojq -c '[to_entries[] | select(.key | IN("output", "bytes", "file_bytes", "records") | not) |
	select(.value != 0 and .value != false)]' "$TMP/stdout")" '[]' "things repaired in a good archive"
cpu_times "$TMP/same.fxt" | diff - "$TMP/whole.times" >&2 || fail "CPU times after repair"

note "repair of damaged ones"
size=$(stat -c %s "$TMP/whole.fxt")
head -c $((size * 3 / 5 / 8 * 8 + 3)) "$TMP/whole.fxt" >"$TMP/cut-off.fxt"
cp "$TMP/whole.fxt" "$TMP/zeroed.fxt"
dd if=/dev/zero of="$TMP/zeroed.fxt" bs=4096 seek=$((size / 8192)) count=5 conv=notrunc status=none
for damaged in cut-off zeroed; do
	edit repair "$TMP/$damaged.fxt" "$TMP/$damaged.repaired.fxt"
done

note "redacted, and still the same machine"
edit redact "$TMP/whole.fxt" "$TMP/redacted.fxt"
cpu_times "$TMP/redacted.fxt" | diff - "$TMP/whole.times" >&2 || fail "CPU times after redact"
for secret in kymo-load pingpong load.sh "$TMP"; do
	grep -qaF "$secret" "$TMP/whole.fxt" || fail "'$secret' is not in the archive itself"
	! grep -qaF "$secret" "$TMP/redacted.fxt" || fail "'$secret' is in the redacted archive"
done

dump_records "$TMP/redacted.fxt"
[ "$(events session_start | gojq -r .args.host)" != "$(uname -n)" ] || fail "the host's name is still there"

note "cut anywhere and merged, each record is there once"
# all_records FILE: prints all records, except those that a cut replaces, and the tables.
all_records() {
	"$KYMO" dump "$1" | grep -E '^ *-?[0-9]+\.[0-9]+  |^ +kernel_object ' |
		grep -vE ' kymo:(session_stop|clock|part) ' | sort
}
record_around "$TMP/all.fxt" -e sched,irq,softirq,workqueue,power,profile,offcpu,calls --offcpu-min 100us \
	--call 'syscall:*nanosleep' -- bash "$(busy 300 30)"
all_records "$TMP/all.fxt" >"$TMP/all.records"
for kind in context_switch thread_wakeup kernel_object backtrace softirq: profile:mapping profile:offcpu calls:; do
	assert_ge "$(grep -cF "$kind" "$TMP/all.records")" 10 "records of $kind"
done
summarize "$TMP/all.fxt"
all_ns=$(json "$SUMMARY" .duration_ns)
# (half of it is far enough from both ends)
assert_ge "$all_ns" 40000000 "nanoseconds of the recording"
# draw_places N: prints up to N places. Between two, there are at least 10 ms: a part of an idle
# moment would have no records. (A subshell would not continue the row of random numbers.)
draw_places() {
	local i

	for ((i = 0; i < $1; i++)); do
		echo $(((RANDOM * 32768 + RANDOM) * 32768 % all_ns + RANDOM))
	done >"$TMP/drawn"
	sort -n "$TMP/drawn" |
		awk -v end="$all_ns" '$1 - last >= 1e7 && $1 < end - 1e7 { print; last = $1 }'
}
RANDOM=1
for ((round = 0; round < rounds; round++)); do
	# (each place can be too near to an end, so it is drawn again)
	until draw_places $((round % 3 + 1)) >"$TMP/places" && [ -s "$TMP/places" ]; do
		:
	done
	mapfile -t at <"$TMP/places"
	parts=() from=()
	for to in "${at[@]}" ""; do
		parts+=("$TMP/part${#parts[@]}.fxt")
		edit cut --force "${from[@]}" ${to:+--to "${to}ns"} "$TMP/all.fxt" "${parts[-1]}"
		from=(--from "${to}ns")
	done
	edit merge --force "${parts[@]}" "$TMP/all-merged.fxt"
	all_records "$TMP/all-merged.fxt" | diff "$TMP/all.records" - >"$TMP/all.diff" || {
		head -20 "$TMP/all.diff" >&2
		fail "records of the parts, cut at ${at[*]}"
	}
done

note "two recordings, one after the other and both at once"
record_around "$TMP/later.fxt" -- bash "$(busy 1000 50)"
edit merge "$TMP/whole.fxt" "$TMP/later.fxt" "$TMP/sequence.fxt"
cpu_times "$TMP/later.fxt" "$TMP/whole.fxt" >"$TMP/both.times"
cpu_times "$TMP/sequence.fxt" | diff - "$TMP/both.times" >&2 || fail "CPU times of two recordings"

"$KYMO" record --direct -o "$TMP/outer.fxt" -- sleep 1.2 >/dev/null 2>&1 &
outer=$!
sleep 0.4
record_around "$TMP/inner.fxt" -- bash -c "'$KYMO_LOAD' --out /dev/null pingpong 2000; sleep 1.5"
wait $outer
edit merge "$TMP/outer.fxt" "$TMP/inner.fxt" "$TMP/overlap.fxt"
# A run of a thread that is in both archives counts once.
summarize "$TMP/overlap.fxt"
assert_le "$(json "$SUMMARY" '[.cpus[] | .busy_ns] | max')" "$(json "$SUMMARY" .duration_ns)" \
	"busy time of a CPU"

note "all of these are clean, and Perfetto accepts them"
check_results "$TMP"/{all-merged,whole,p1,p2,p3,merged,pid,cpu,same,redacted,sequence,overlap}.fxt
# (if the record of a module or mapping is lost, its contents are unknown)
CHECK_EXCEPT='mmap-before-module|backtrace-before-mmap' \
	check_results "$TMP"/{cut-off,zeroed}.repaired.fxt
