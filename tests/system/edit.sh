#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# repair, cut, merge and redact on real recordings: results are clean, parts add up to the whole,
# and Perfetto takes them all.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command dd

# check_result FILE [REGEX]: it is a clean archive, but for warnings of kinds that match, and
# Perfetto has nothing to say
check_result() {
	local answers

	expect_exit 0 "$KYMO" check --json "$1"
	jq -e --arg but "^(${2:-none})\$" '.errors == 0 and
		all(.kinds[] | select(.severity == "warning"); .id | test($but))' "$TMP/stdout" >/dev/null ||
		fail "$1: $("$KYMO" check "$1")"
	[ "${KYMO_PERFETTO_SQL:-}" ] || return 0
	# (threads that a switch names, and that nobody names)
	answers=$(perfetto "$1" \
		"select name, value from stats where value != 0 and
			(name glob 'fuchsia*' or severity in ('error', 'data_loss'))" \
		"select count(*) n from sched_slice join thread using (utid)
			where dur = -1" \
		"select count(*) n from slice where dur = -1" \
		"select count(*) n from sched_slice join thread using (utid)
			where tid != 0 and name is null")
	assert_eq "$(sed -n 1p <<<"$answers")" '[]' "errors of import of $1"
	assert_eq "$(sed -n 2p <<<"$answers")" '[{"n":0}]' "open sched slices of $1"
	assert_eq "$(sed -n 3p <<<"$answers")" '[{"n":0}]' "open slices of $1"
	assert_eq "$(sed -n 4p <<<"$answers")" '[{"n":0}]' "nameless threads of $1"
}

# edit VERB ARGUMENT ...
edit() {
	expect_exit 0 "$KYMO" "$@"
}

# cpu_times FILE ...: the CPU time of each thread, by the kernel's tid, of all of them together. (Of
# which process a thread is one of two archives may know, and not the other.)
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

record_around "$TMP/whole.fxt" -- bash "$(busy 10000 300)"
check_result "$TMP/whole.fxt"
summarize "$TMP/whole.fxt"
ns=$(json "$SUMMARY" .duration_ns)
t1=$((ns / 3)) t2=$((ns * 2 / 3))

note "parts of it add up to the whole"
edit cut --to "${t1}ns" "$TMP/whole.fxt" "$TMP/p1.fxt"
edit cut --from "${t1}ns" --to "${t2}ns" "$TMP/whole.fxt" "$TMP/p2.fxt"
edit cut --from "${t2}ns" "$TMP/whole.fxt" "$TMP/p3.fxt"
for part in 1 2 3; do
	check_result "$TMP/p$part.fxt"
done
cpu_times "$TMP/whole.fxt" >"$TMP/whole.times"
assert_ge "$(wc -l <"$TMP/whole.times")" 100 "threads with CPU time"
cpu_times "$TMP/p1.fxt" "$TMP/p2.fxt" "$TMP/p3.fxt" >"$TMP/parts.times"
diff "$TMP/whole.times" "$TMP/parts.times" >&2 || fail "CPU times of the parts are not those of the whole"

note "merged, they are the whole again"
edit merge "$TMP/p3.fxt" "$TMP/p1.fxt" "$TMP/p2.fxt" "$TMP/merged.fxt"
check_result "$TMP/merged.fxt"
cpu_times "$TMP/merged.fxt" >"$TMP/merged.times"
diff "$TMP/whole.times" "$TMP/merged.times" >&2 || fail "CPU times of the merged parts"
dump_records "$TMP/whole.fxt"
assert_eq "$(events session_start | jq -r .args.host)" "$(uname -n)" "the host of a recording"
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
check_result "$TMP/pid.fxt"
of_process "$TMP/whole.fxt" >"$TMP/whole.threads"
assert_ge "$(wc -l <"$TMP/whole.threads")" 2 "threads of process $pid"
of_process "$TMP/pid.fxt" | diff - "$TMP/whole.threads" >&2 || fail "CPU times of process $pid"
edit cut --cpu 0 "$TMP/whole.fxt" "$TMP/cpu.fxt"
check_result "$TMP/cpu.fxt"
summarize "$TMP/cpu.fxt"
assert_eq "$(json "$SUMMARY" '[.cpus[] | select(.busy_ns > 0) | .cpu] | @csv')" 0 "CPUs of --cpu 0"

note "repair changes nothing that is good"
edit repair --json "$TMP/whole.fxt" "$TMP/same.fxt"
assert_eq "$(jq -c '[to_entries[] | select(.key | IN("output", "bytes", "file_bytes", "records") | not) |
	select(.value != 0 and .value != false)]' "$TMP/stdout")" '[]' "things repaired in a good archive"
check_result "$TMP/same.fxt"
cpu_times "$TMP/same.fxt" | diff - "$TMP/whole.times" >&2 || fail "CPU times after repair"

note "repair of damaged ones"
size=$(stat -c %s "$TMP/whole.fxt")
head -c $((size * 3 / 5 / 8 * 8 + 3)) "$TMP/whole.fxt" >"$TMP/cut-off.fxt"
cp "$TMP/whole.fxt" "$TMP/zeroed.fxt"
dd if=/dev/zero of="$TMP/zeroed.fxt" bs=4096 seek=$((size / 8192)) count=5 conv=notrunc status=none
for damaged in cut-off zeroed; do
	edit repair "$TMP/$damaged.fxt" "$TMP/$damaged.repaired.fxt"
	# (what a module or a mapping was is lost with its record)
	check_result "$TMP/$damaged.repaired.fxt" 'mmap-before-module|backtrace-before-mmap'
done

note "redacted, and still the same machine"
edit redact "$TMP/whole.fxt" "$TMP/redacted.fxt"
check_result "$TMP/redacted.fxt"
cpu_times "$TMP/redacted.fxt" | diff - "$TMP/whole.times" >&2 || fail "CPU times after redact"
for secret in kymo-load pingpong load.sh "$TMP"; do
	grep -qaF "$secret" "$TMP/whole.fxt" || fail "'$secret' is not in the archive itself"
	! grep -qaF "$secret" "$TMP/redacted.fxt" || fail "'$secret' is in the redacted archive"
done

dump_records "$TMP/redacted.fxt"
[ "$(events session_start | jq -r .args.host)" != "$(uname -n)" ] || fail "the host's name is still there"

note "two recordings, one after the other and both at once"
record_around "$TMP/later.fxt" -- bash "$(busy 2000 50)"
edit merge "$TMP/whole.fxt" "$TMP/later.fxt" "$TMP/sequence.fxt"
check_result "$TMP/sequence.fxt"
cpu_times "$TMP/later.fxt" "$TMP/whole.fxt" >"$TMP/both.times"
cpu_times "$TMP/sequence.fxt" | diff - "$TMP/both.times" >&2 || fail "CPU times of two recordings"

"$KYMO" record --direct -o "$TMP/outer.fxt" -- sleep 1.2 >/dev/null 2>&1 &
outer=$!
sleep 0.4
record_around "$TMP/inner.fxt" -- bash -c "'$KYMO_LOAD' --out /dev/null pingpong 2000; sleep 1.5"
wait $outer
edit merge "$TMP/outer.fxt" "$TMP/inner.fxt" "$TMP/overlap.fxt"
check_result "$TMP/overlap.fxt"
# Where both tell of it, a thread ran once.
summarize "$TMP/overlap.fxt"
assert_le "$(json "$SUMMARY" '[.cpus[] | .busy_ns] | max')" "$(json "$SUMMARY" .duration_ns)" \
	"busy time of a CPU"

# owners PID FILE ...: when those began who had the kernel's PID
owners() {
	local pid=$1 file

	for file in "${@:2}"; do
		summarize "$file"
		json "$SUMMARY" ".processes[] | select(.pid % 4194304 == $pid) | .start_ns"
	done | sort
}

note "an id that the kernel gave out again"
# reuse PID MARK: has a process of that id, unless others are always quicker
cat >"$TMP/reuse.sh" <<-'END'
	for ((i = 0; i < 100; i++)); do
		echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid
		sleep 0.01 &
		[ $! != "$1" ] || { touch "$2" && break; }
	done
	wait
END
pid=$(bash -c 'echo $$')
if [ -w /proc/sys/kernel/ns_last_pid ]; then
	for n in 1 2; do
		record_around "$TMP/owner$n.fxt" -- bash "$TMP/reuse.sh" "$pid" "$TMP/owned$n"
		check_result "$TMP/owner$n.fxt"
	done
fi
if [ -e "$TMP/owned1" ] && [ -e "$TMP/owned2" ]; then
	edit merge "$TMP/owner1.fxt" "$TMP/owner2.fxt" "$TMP/owners.fxt"
	check_result "$TMP/owners.fxt"
	owners "$pid" "$TMP/owner1.fxt" "$TMP/owner2.fxt" >"$TMP/owners.each"
	assert_le 2 "$(sort -u "$TMP/owners.each" | wc -l)" "owners of $pid"
	owners "$pid" "$TMP/owners.fxt" | diff - "$TMP/owners.each" >&2 || fail "owners of $pid when merged"
else
	note "(it gives none out again here)"
fi
