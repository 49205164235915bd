#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `kymo export --format perfetto` of threads that were preempted: of each thread, Perfetto shows as
# many preemptions in the kernel (R+) as ftrace has recorded in the same run, and as many others (R).

. "$(dirname "$0")/../lib.sh"
need_btf
need_perfetto
mkdir "$TMP/tracefs"
mount -t tracefs none "$TMP/tracefs" 2>/dev/null || skip "tracefs is unavailable"
at_exit umount "$TMP/tracefs"
ftrace=$TMP/tracefs/instances/kymo-test.$$
mkdir "$ftrace"
at_exit rmdir "$ftrace"
echo 32768 >"$ftrace/buffer_size_kb"
echo 1 >"$ftrace/events/sched/sched_switch/enable"
echo 1 >"$ftrace/options/event-fork"

# All on one CPU. Large copies in the kernel are preempted there, and loops on the way to user mode.
cat >"$TMP/load.sh" <<-END
	echo 0 >"$ftrace/tracing_on"
	echo >"$ftrace/trace"
	echo \$BASHPID >"$ftrace/set_event_pid"
	echo 1 >"$ftrace/tracing_on"
	pids=()
	for i in 1 2; do
		dd if=/dev/zero of=/dev/null bs=64M count=20 2>/dev/null &
		pids+=(\$!)
		(for ((n = 0; n < 300000; n++)); do :; done) &
		pids+=(\$!)
	done
	echo "\${pids[*]}" >"$TMP/pids"
	wait
	echo 0 >"$ftrace/tracing_on"
	cat "$ftrace/trace" >"$TMP/ftrace"
	echo >"$ftrace/set_event_pid"
END
record_around "$TMP/t.fxt" -b 32M -e sched -- taskset -c "$(last_cpu)" bash "$TMP/load.sh"
expect_exit 0 "$KYMO" check "$TMP/t.fxt"
expect_exit 0 "$KYMO" export "$TMP/t.fxt" -o "$TMP/t.pftrace"
assert_eq "$(cat "$ftrace"/per_cpu/cpu*/stats | awk '/^overrun:/ { n += $2 } END { print n }')" 0 "events that ftrace lost"

pids=$(sed 's/ /, /g' "$TMP/pids")
perfetto "$TMP/t.pftrace" \
	"select name, idx, value from stats where value != 0 and severity in ('error', 'data_loss')" \
	"select t.tid, s.end_state state, count(*) n from sched s join thread t using (utid)
		where t.tid in ($pids) and s.end_state in ('R', 'R+') group by 1, 2 order by 1, 2" \
	"select t.tid, s.state, count(*) n from thread_state s join thread t using (utid)
		where t.tid in ($pids) and s.state in ('R', 'R+') group by 1, 2 order by 1, 2" >"$TMP/answers"
assert_eq "$(sed -n 1p "$TMP/answers")" "[]" "errors of import"
sed -n 2p "$TMP/answers" | gojq -r '.[] | "\(.tid) \(.state) \(.n)"' >"$TMP/shown"
awk -v pids="$(cat "$TMP/pids")" '
	BEGIN { split(pids, list, " "); for (i in list) wanted[list[i]] = 1 }
	match($0, /prev_pid=[0-9]+/) {
		pid = substr($0, RSTART + 9, RLENGTH - 9)
		match($0, /prev_state=[^ ]+/)
		state = substr($0, RSTART + 11, RLENGTH - 11)
		if (pid in wanted && state ~ /^R\+?$/)
			n[pid " " state]++
	}
	END { for (key in n) print key, n[key] }' "$TMP/ftrace" | LC_ALL=C sort >"$TMP/traced"
LC_ALL=C sort -o "$TMP/shown" "$TMP/shown"
note "as ftrace has recorded: $(tr '\n' ',' <"$TMP/traced")"
diff "$TMP/traced" "$TMP/shown" >&2 || fail "Perfetto's states (>) differ from those of ftrace (<)"
assert_ge "$(awk '$2 == "R+" { n += $3 } END { print n + 0 }' "$TMP/shown")" 1 "preemptions in the kernel"
assert_ge "$(awk '$2 == "R" { n += $3 } END { print n + 0 }' "$TMP/shown")" 1 "other preemptions"
# The state of the thread has the same letters. (A thread that was woken is in R, too.)
assert_eq "$(sed -n 3p "$TMP/answers" | gojq '[.[] | select(.state == "R+") | .n] | add')" \
	"$(awk '$2 == "R+" { n += $3 } END { print n }' "$TMP/shown")" "states R+"
