#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tracepoints: the recorded events and their fields are those that ftrace records of the same
# processes. Conditions, filters, losses, and errors.

. "$(dirname "$0")/../lib.sh"
need_btf
mkdir "$TMP/tracefs"
mount -t tracefs none "$TMP/tracefs" 2>/dev/null || skip "tracefs is unavailable"
at_exit umount "$TMP/tracefs"
[ -e "$TMP/tracefs/events/raw_syscalls/sys_enter/format" ] ||
	skip "this kernel has no tracepoints of system calls"
ftrace=$TMP/tracefs/instances/kymo-test.$$
mkdir "$ftrace"
at_exit rmdir "$ftrace"
echo 32768 >"$ftrace/buffer_size_kb"
for event in sched/sched_process_exec sched/sched_process_fork sched/sched_process_exit \
	raw_syscalls/sys_enter; do
	echo 1 >"$ftrace/events/$event/enable"
done
# Children are recorded, too.
echo 1 >"$ftrace/options/event-fork"
true=$(type -P true)

# ftrace records the processes of this load. All of them end in it. The shell itself begins before,
# and is left out.
cat >"$TMP/load.sh" <<-END
	echo 0 >"$ftrace/tracing_on"
	echo >"$ftrace/trace"
	echo \$BASHPID >"$ftrace/set_event_pid"
	echo \$BASHPID >"$TMP/shell"
	echo 1 >"$ftrace/tracing_on"
	for i in {1..20}; do
		"$true" "\$i"
	done
	"$KYMO_LOAD" --out "$TMP/pingpong.json" pingpong 200
	echo 0 >"$ftrace/tracing_on"
	cat "$ftrace/trace" >"$TMP/ftrace"
	echo >"$ftrace/set_event_pid"
END

# ftrace_events: prints "TID EVENT FIELD ..." for each event of ftrace, except those of the shell,
# ordered by thread. The arguments of system calls become decimal numbers.
ftrace_events() {
	local tid what number words hex

	sed -n -e 's/^ *.*-\([0-9]\{1,\}\) *\[[0-9]*\] [^ ]* *[0-9.]*: \([a-z_]*\): \(.*\)/\1 \2 \3/' -e T \
		-e 's/ group_dead=.*//' -e 's/NR \(-\{0,1\}[0-9]*\) (\(.*\))/\1 \2/' -e 's/,//g' -e p \
		"$TMP/ftrace" |
		while read -r tid what number words; do
			if [ "$what" = sys_enter ]; then
				# (without a process: there are thousands of events)
				read -r -a hex <<<"$words"
				printf -v words ' %u' "${hex[@]/#/0x}"
			else
				words=" $words"
			fi
			echo "$tid $what $number$words"
		done | awk -v shell="$(<"$TMP/shell")" '$1 != shell' | sort -s -n -k 1,1
}

# kymo_events: prints the same for $DUMP, of the threads of the file $TMP/tids.
kymo_events() {
	gojq -rn --rawfile tids "$TMP/tids" '($tids | split("\n")) as $tids | inputs |
		select(.record == "event" and .category == "tracepoints") |
		select(.thread_id as $t | $tids | index("\($t)")) |
		(.args | from_entries) as $a |
		"\(.thread_id) \(.name | sub("^.*:"; "")) " + {
			"raw_syscalls:sys_enter": "\($a.id) \($a.args // "" | gsub(","; ""))",
			"sched:sched_process_exec": "filename=\($a.filename) pid=\($a.pid) old_pid=\($a.old_pid)",
			"sched:sched_process_fork":
				"comm=\($a.parent_comm) pid=\($a.parent_pid) child_comm=\($a.child_comm) child_pid=\($a.child_pid)",
			"sched:sched_process_exit": "comm=\($a.comm) pid=\($a.pid) prio=\($a.prio)"
		}[.name]' "$DUMP" | sort -s -n -k 1,1
}

# ---- all fields ----

record_around "$TMP/all.fxt" -b 16M -p $$ \
	-e 'tp:sched:sched_process_e*,tp:sched:sched_process_fork,tp:raw_syscalls:sys_enter' -- \
	bash "$TMP/load.sh"
grep -E '^# entries-in-buffer/entries-written: ([0-9]+)/\1 ' "$TMP/ftrace" >"$TMP/whole" ||
	fail "ftrace has lost events: $(grep entries-in "$TMP/ftrace")"
ftrace_events >"$TMP/expected"
cut -d' ' -f1 "$TMP/expected" | sort -u >"$TMP/tids"
assert_ge "$(grep -c "exec filename=$true " "$TMP/expected")" 20 "programs that ftrace has recorded"
assert_ge "$(grep -c sys_enter "$TMP/expected")" 400 "system calls that ftrace has recorded"
dump_records "$TMP/all.fxt"
kymo_events >"$TMP/recorded"
diff "$TMP/expected" "$TMP/recorded" >"$TMP/differences" || true
assert_empty "$TMP/differences" "differences between ftrace and kymo"
note "$(wc -l <"$TMP/recorded") events are those of ftrace"
expect_exit 0 "$KYMO" check "$TMP/all.fxt"

# Events in interrupts and in the idle thread are on pseudo-threads, which have names.
# (an event that interrupts the program is lost, which is counted)
expect_exit 0 "$KYMO" record --direct -o "$TMP/timer.fxt" -e 'tp:timer:hrtimer_expire_entry,tp:timer:hrtimer_start' -- sleep 0.3
dump_records "$TMP/timer.fxt"
events timer:hrtimer_expire_entry >"$TMP/expired"
assert_ge "$(wc -l <"$TMP/expired")" 10 "timers that expired"
json "$TMP/expired" '.thread_id' | sort -u >"$TMP/owners"
gojq -r 'select(.record == "kernel_object" and (.name | test("^(irq|softirq|idle) cpu "))) | .koid' "$DUMP" |
	sort -u >"$TMP/pseudo"
assert_empty <(comm -23 "$TMP/owners" "$TMP/pseudo") "threads of events in interrupts"

# ---- conditions ----

record_around "$TMP/conditions.fxt" \
	-e "tp:sched:sched_process_exec[filename==\"$true\" && pid>0 && old_pid!=0]" \
	-e "tp:raw_syscalls:sys_enter[id==-5],tp:sched:sched_process_exit[comm!=\"true\" && prio<0]" -- \
	bash "$TMP/load.sh"
dump_records "$TMP/conditions.fxt"
events sched:sched_process_exec >"$TMP/execs"
json "$TMP/execs" .args.filename | sort -u >"$TMP/files"
assert_eq "$(<"$TMP/files")" "$true" "programs that the condition selects"
ftrace_events >"$TMP/expected"
awk -v file="filename=$true" '$2 == "sched_process_exec" && $3 == file { print $1 }' "$TMP/expected" |
	sort >"$TMP/expected-pids"
assert_eq "$(wc -l <"$TMP/expected-pids")" 20 "programs of the load"
json "$TMP/execs" .thread_id | sort | comm -23 "$TMP/expected-pids" - >"$TMP/missing"
assert_empty "$TMP/missing" "programs that are missing"
for name in raw_syscalls:sys_enter sched:sched_process_exit; do
	events $name >"$TMP/others"
	assert_empty "$TMP/others" "events for which no condition holds"
done

# ---- filters ----

# ---- filters, and losses ----

# record_held NAME ROUNDS [record option ...]: records a load of ROUNDS that waits, alone, with kymo
# and with ftrace. If PAUSED is set, kymo's process stands still meanwhile.
record_held() {
	local name=$1 rounds=$2 recorder

	shift 2
	start_held "$name" pingpong "$rounds"
	"$KYMO" record --direct -e tp:raw_syscalls:sys_enter -p "${HELD[$name]}" -o "$TMP/$name.fxt" "$@" \
		2>"$TMP/record.log" &
	recorder=$!
	expect_soon 10 test -s "$TMP/$name.fxt"
	echo 0 >"$ftrace/tracing_on"
	echo >"$ftrace/trace"
	echo "${HELD[$name]}" >"$ftrace/set_event_pid"
	echo 1 >"$ftrace/tracing_on"
	[ -z "${PAUSED:-}" ] || kill -STOP $recorder
	begin_held "$name"
	wait_held "$name"
	[ -z "${PAUSED:-}" ] || kill -CONT $recorder
	echo 0 >"$ftrace/tracing_on"
	cat "$ftrace/trace" >"$TMP/ftrace"
	echo >"$ftrace/set_event_pid"
	kill -INT $recorder
	wait $recorder || [ "$? ${PAUSED:-}" = "3 yes" ] || fail "recording failed: $(cat "$TMP/record.log")"
	end_held "$name"
	echo 0 >"$TMP/shell"
	ftrace_events >"$TMP/all-expected"
	grep sys_enter "$TMP/all-expected" >"$TMP/expected"
	cut -d' ' -f1 "$TMP/expected" | sort -u >"$TMP/tids"
	dump_records "$TMP/$name.fxt"
	kymo_events >"$TMP/recorded"
}

record_held filter 50
diff "$TMP/expected" "$TMP/recorded" >"$TMP/differences" || true
assert_empty "$TMP/differences" "differences between ftrace and kymo, of one process"
events raw_syscalls:sys_enter >"$TMP/all"
assert_eq "$(wc -l <"$TMP/all")" "$(wc -l <"$TMP/expected")" "events with a filter"

PAUSED=yes record_held losses 3000 -b 64K
summarize "$TMP/losses.fxt"
lost=$(json "$SUMMARY" '.lost.tracepoints // 0')
assert_ge "$lost" 1000 "events that are lost while the recorder stands still"
assert_eq "$(($(wc -l <"$TMP/recorded") + lost))" "$(wc -l <"$TMP/expected")" \
	"events that are recorded or lost"

# ---- errors ----

# refused WORDS SPEC: checks that SPEC is refused with WORDS.
refused() {
	expect_exit 1 "$KYMO" record --direct -d 1 -e "$2" -o "$TMP/none.fxt"
	grep -qF -- "$1" "$TMP/stderr" || fail "$2: $(<"$TMP/stderr") lacks: $1"
}

refused "this kernel has no tracepoint 'sched:sched_proces_exec'; did you mean 'sched:sched_process_exec'?" \
	tp:sched:sched_proces_exec
refused "no tracepoint of this kernel matches 'nothing*:*'" 'tp:nothing*:*'
refused "has no field 'pd'; did you mean 'pid'?" 'tp:sched:sched_process_exec[pd==3]'
refused 'is a text: compare it with "..."' 'tp:sched:sched_process_exec[filename==3]'
refused "at most 256 are possible" 'tp:*:*'
refused 'selected twice, and with a condition' 'tp:sched:sched_process_exec,tp:sched:*[pid==3]'
expect_exit 2 "$KYMO" record --direct -d 1 -e tracepoints -o "$TMP/none.fxt"
assert_says "$TMP/stderr" 'specify each as tp:SYSTEM:NAME'
expect_exit 2 "$KYMO" record --direct --own -d 1 -e tp:sched:sched_switch -o "$TMP/none.fxt"
assert_says "$TMP/stderr" 'cannot be combined'

# ---- edits ----

expect_exit 0 "$KYMO" redact "$TMP/all.fxt" "$TMP/redacted.fxt"
dump_records "$TMP/redacted.fxt"
events sched:sched_process_exec >"$TMP/execs"
assert_ge "$(wc -l <"$TMP/execs")" 20 "events after a redaction"
json "$TMP/execs" .args.filename >"$TMP/files"
assert_ge "$(grep -cvx null "$TMP/files")" 20 "texts after a redaction"
if grep -F "$true" "$TMP/files" >"$TMP/shown"; then
	fail "names of files after a redaction: $(cat "$TMP/shown")"
fi
json "$TMP/execs" '.args.cpu' | sort -u >"$TMP/cpus"
assert_le "$(tail -n 1 "$TMP/cpus")" "$(nproc --all)" "CPUs after a redaction"
