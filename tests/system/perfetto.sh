#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Perfetto's view agrees with kymo's: no import error, no open slice, idle CPUs idle, the same
# slices, names, processes and wakers.

. "$(dirname "$0")/../lib.sh"
need_btf
need_perfetto

# Fewer than 100,000 wakeups, because the time of some versions is quadratic in the number of
# wakeups with a waker.
cat >"$TMP/load.sh" <<-END
	"$KYMO_LOAD" --out "$TMP/wakeups.json" wakeups futex 5000 &
	"$KYMO_LOAD" --cpu $(last_cpu) --out "$TMP/pingpong.json" pingpong 5000
	"$KYMO_LOAD" --out "$TMP/procs.json" procs 200
	wait
	sleep 0.5
END
# (the whole machine is recorded: if other threads wake each other too often, the test tries again)
for n in 1 2 3 4 5; do
	record_around "$TMP/t.fxt" -- bash "$TMP/load.sh"
	summarize "$TMP/t.fxt"
	assert_no_loss
	woken=$(json "$SUMMARY" .events.wakeup)
	[ "$woken" -gt 100000 ] || break
	note "disturbed (try $n): $woken wakeups"
done
[ "$woken" -le 100000 ] || skip "others on this machine wake each other too often: $woken wakeups"

# Threads that a filter leaves out are one pseudo-thread per CPU, because a thread can run only on
# one CPU.
record_around "$TMP/filtered.fxt" --comm kymo-load -- \
	"$KYMO_LOAD" --out "$TMP/procs2.json" procs 200
perfetto "$TMP/t.fxt" \
	"select name, value from stats where value != 0 and
		(name glob 'fuchsia*' or severity in ('error', 'data_loss'))" \
	"select count(*) n from sched_slice where dur = -1" \
	"select count(*) n from slice where dur = -1" \
	"select count(*) n from sched_slice join thread using (utid) where tid != 0" \
	"select ucpu cpu, sum(dur) busy_ns from sched_slice join thread using (utid) where tid != 0
		group by ucpu" \
	"select t.tid, p.pid, t.name from thread t join process p using (upid)" \
	"select pid, name from process" \
	"select w.tid waker, t.tid woken, count(*) n from thread_state s join thread t using (utid)
		join thread w on s.waker_utid = w.utid where w.utid != t.utid group by 1, 2" \
	"select count(*) n from thread_state where waker_utid = utid" \
	-- "$TMP/filtered.fxt" \
	"select count(*) n from sched_slice where dur = -1" \
	"select count(distinct ucpu) n from sched_slice join thread using (utid)
		where name glob 'other cpu *'" >"$TMP/answers"

answer() {
	sed -n "$1p" "$TMP/answers"
}

assert_eq "$(answer 1)" '[]' "errors of import"
assert_eq "$(answer 2)" '[{"n":0}]' "open sched slices"
assert_eq "$(answer 3)" '[{"n":0}]' "open slices"
assert_eq "$(answer 10)" '[{"n":0}]' "open sched slices with a filter"
assert_ge "$(answer 11 | gojq '.[0].n')" 2 "CPUs that show others"
assert_eq "$(answer 4 | gojq '.[0].n')" "$(json "$SUMMARY" .sched_slices)" "sched slices"

assert_eq "$(json "$SUMMARY" '.cpus | length')" "$(nproc --all)" "number of CPUs"
while read -r cpu busy; do
	theirs=$(answer 5 | gojq ".[] | select(.cpu == $cpu) | .busy_ns")
	assert_within "${theirs:-0}" "$busy" 0.1 "busy time of CPU $cpu"
done < <(json "$SUMMARY" '.cpus[] | [.cpu, .busy_ns] | @tsv')

answer 6 | gojq -r '.[] | [.tid, .pid, .name] | @tsv' | sort >"$TMP/theirs"
json "$SUMMARY" '.threads[] | [.tid, .pid, .name] | @tsv' | sort >"$TMP/ours"
comm -23 "$TMP/ours" "$TMP/theirs" >"$TMP/missing"
assert_empty "$TMP/missing" "threads that Perfetto sees otherwise"

answer 7 | gojq -r '.[] | [.pid, .name] | @tsv' | sort >"$TMP/theirs"
json "$SUMMARY" '.processes[] | [.pid, .name] | @tsv' | sort >"$TMP/ours"
comm -23 "$TMP/ours" "$TMP/theirs" >"$TMP/missing"
assert_empty "$TMP/missing" "processes that Perfetto sees otherwise"

# Of the wakeups that are known to be by tasks, 95 % have their waker.
dump_records "$TMP/t.fxt"
with_waker=$(wakeups | awk '$4 != 0' | wc -l)
theirs=$(answer 8 | gojq '[.[].n] | add')
note "$with_waker wakeups by tasks, $theirs with their waker in Perfetto"
assert_ge "$theirs" $((with_waker * 95 / 100)) "wakeups with a waker in Perfetto"
assert_eq "$(answer 9)" '[{"n":0}]' "threads that wake themselves"
waker=$(json "$TMP/wakeups.json" .waker)
sleeper=$(json "$TMP/wakeups.json" .sleeper)
right=$(answer 8 | gojq "[.[] | select(.waker == $waker and .woken == $sleeper) | .n] | add // 0")
assert_ge "$right" $((5000 * 95 / 100)) "wakeups of the sleeper by its waker in Perfetto"
