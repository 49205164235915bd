#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `kymo export --format perfetto`: Perfetto shows the same slices, wakers, samples and names as of
# the archive, and also the states and processes for which FXT has no words.

. "$(dirname "$0")/../lib.sh"
need_btf
need_perfetto

cat >"$TMP/load.sh" <<-END
	"$KYMO_LOAD" --out "$TMP/wakeups.json" wakeups futex 2000 &
	"$KYMO_LOAD" --out "$TMP/procs.json" procs 100
	wait
END
record_around "$TMP/t.fxt" -F 999 -e default,irq,softirq,workqueue,power,counters,calls,offcpu \
	--counter-interval 100ms --call "libc.so.6:strdup(str s) -> ptr" -- bash "$TMP/load.sh"
summarize "$TMP/t.fxt"
assert_no_loss
expect_exit 0 "$KYMO" export "$TMP/t.fxt" -o "$TMP/t.pftrace"
record_around "$TMP/filtered.fxt" --comm kymo-load -- "$KYMO_LOAD" --out "$TMP/procs2.json" procs 100
expect_exit 0 "$KYMO" export --format perfetto "$TMP/filtered.fxt" -o "$TMP/filtered"

# (Perfetto adds threads without a name: of processes without threads, and in the export of parents
# that a filter does not select.)
# (Of the archive, the last slices of the idle threads have no end, and are missing.)
questions=(
	"select name, idx, value from stats where value != 0 and severity in ('error', 'data_loss')"
	"select s.ts, s.dur, s.ucpu, t.tid, t.name, s.priority, iif(s.end_state in
		('D', 'I', 'P', 'T', 't'), 'S', replace(s.end_state, '+', '')) state
		from sched s join thread t using (utid) where t.tid != 0 order by 1, 2, 3, 4"
	"select s.ts, t.tid, iif(s.irq_context = 1 or w.name glob '*irq cpu *', 'irq', w.tid) waker
		from thread_state s join thread t using (utid) join thread w on w.utid = s.waker_utid
		order by 1, 2, 3"
	"select p.ts, t.tid, p.cpu_mode, c.depth, f.name, f.rel_pc, m.name mapping, m.build_id
		from perf_sample p join thread t using (utid)
		left join stack_profile_callsite c on c.id = p.callsite_id
		left join stack_profile_frame f on f.id = c.frame_id
		left join stack_profile_mapping m on m.id = f.mapping order by 1, 2"
	"select t.tid, t.name, p.pid from thread t left join process p using (upid)
		where t.name is not null and t.tid != 0 and (t.tid < 4194304 or t.tid != p.pid) order by 1, 2, 3"
	"select s.ts, s.dur, s.name, t.tid, s.category from slice s join thread_track p on s.track_id = p.id
		join thread t using (utid) where (s.category in ('calls', 'workqueue') or
		s.name in ('offcpu', 'fork', 'exec', 'exit')) order by 1, 2, 4"
	"select s.ts, s.dur from slice s where s.category in ('irq', 'softirq') order by 1, 2"
	"select c.ts, c.value, replace(t.name, ':0', '') name from counter c
		join counter_track t on c.track_id = t.id
		where t.name glob 'load:*' or t.name glob 'memory:*' or t.name glob 'pressure:*'
		order by 1, 3"
)
perfetto "$TMP/t.fxt" "${questions[@]}" -- "$TMP/t.pftrace" "${questions[@]}" \
	-- "$TMP/filtered.fxt" "${questions[@]}" -- "$TMP/filtered" "${questions[@]}" >"$TMP/answers"

answer() {
	sed -n "$1p" "$TMP/answers"
}

what=(x "errors of import" "slices" "wakers" "samples" "threads" "calls" "interrupts" "counters")
for n in 1 2 3 4 5 6 7 8; do
	for first in 0 16; do
		answer $((first + n)) | gojq -c '.[]' | sort >"$TMP/archive"
		answer $((first + n + 8)) | gojq -c '.[]' | sort >"$TMP/export"
		diff "$TMP/archive" "$TMP/export" >"$TMP/difference" || true
		assert_empty "$TMP/difference" "differences of ${what[n]}"
	done
	[ $n = 1 ] || assert_ge "$(answer $n | gojq length)" 1 "${what[n]}"
done
assert_eq "$(answer 9)" "[]" "errors of import"
assert_eq "$(answer 2 | gojq length)" "$(json "$SUMMARY" .sched_slices)" "slices"

# An archive does not say the CPU of a sample, and the kernel does not report each switch.
cpus="select ts, cpu from perf_sample"
perfetto "$TMP/t.fxt" "$cpus" -- "$TMP/t.pftrace" "$cpus" >"$TMP/answers"
answer 1 | gojq -c '.[]' | sort >"$TMP/archive"
answer 2 | gojq -c '.[]' | sort >"$TMP/export"
same=$(comm -12 "$TMP/archive" "$TMP/export" | wc -l)
all=$(wc -l <"$TMP/archive")
note "$same of $all samples have the same CPU"
assert_ge "$same" $((all * 95 / 100)) "samples with the same CPU"

# What FXT has no words for: states, parents, command lines and start times.
perfetto "$TMP/t.pftrace" \
	"select distinct end_state state from sched where end_state is not null" \
	"select p.pid, q.pid parent, p.cmdline, p.uid, p.start_ts from process p
		left join process q on p.parent_upid = q.upid" >"$TMP/answers"
letters=$(answer 1 | gojq -r '.[].state' | sort | tr -d '\n')
note "states: $letters"
[[ $letters == *I* && $letters == *S* ]] || fail "kernel workers are not idle: $letters"
answer 2 >"$TMP/processes.json"
holds "$TMP/processes.json" "any(.[]; .pid == $(json "$TMP/procs.json" .pid) and
	(.cmdline | test(\"kymo-load --out .*/procs.json procs 100\$\")) and .uid == $(id -u) and
	.start_ts > 0 and .parent != null)" || fail "the load's process: $(cat "$TMP/processes.json")"

# The same of all processes that still live, as far as they have neither called exec nor got another
# parent since.
compared=0
while IFS=$'\t' read -r pid parent line; do
	is=$({ tr '\0' ' ' <"/proc/$pid/cmdline"; } 2>/dev/null) || continue
	# (the processes of a parent that has ended get another one)
	[ -z "$parent" ] || [ -d "/proc/$parent" ] || continue
	# (texts are cut and cleaned, and TSV has other backslashes)
	if [ -z "$is" ] || [ ${#is} -ge 500 ] || [[ $is == *[!\ -~]* || $is == *\\* ]]; then
		continue
	fi
	assert_eq "${line%% }" "${is%% }" "the command line of process $pid"
	assert_eq "$parent" "$(awk '$1 == "PPid:" && $2 != 0 { print $2 }' "/proc/$pid/status")" "the parent of process $pid"
	compared=$((compared + 1))
done < <(gojq -r '.[] | select(.pid != null and .pid != 0 and .pid < 4194304 and .start_ts != null) |
	[.pid, .parent // "", .cmdline // ""] | @tsv' "$TMP/processes.json")
note "$compared processes are as in /proc"
assert_ge "$compared" 1 "processes that still live"
