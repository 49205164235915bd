#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A CPU that goes offline during a recording, and comes back: after a while, and so soon that
# polling would not notice. Samples and mappings come from it again, and the schedule stays correct.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../judge-words.sh"
need_btf
need_bus
need_cpus 2

# The kernel returns CPUs to the root of a cpuset hierarchy of cgroup v1, but not to its groups.
cpusets=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpuset(,|$)/ { print $2; exit }' /proc/mounts)
if [ "$cpusets" ] && [ "$(find "$cpusets" -mindepth 1 -maxdepth 1 -type d)" ]; then
	skip "CPUs that go leave cpusets of cgroup v1 for good"
fi
cpu=$(last_cpu)
knob=/sys/devices/system/cpu/cpu$cpu/online
online=$(cat /sys/devices/system/cpu/online)
[ -w "$knob" ] || skip "CPU $cpu cannot be taken off ($knob)"
[ "$(cat "$knob")" = 1 ] || skip "CPU $cpu is off"

# set_cpu 0|1: sets the state of the CPU. The kernel may need it for another moment.
set_cpu() {
	echo "$1" >"$knob" && [ "$(cat "$knob")" = "$1" ]
}
at_exit eval "wait_for 10 set_cpu 1"
(set_cpu 0) 2>/dev/null || skip "CPU $cpu cannot be taken off: the kernel refuses"
expect_soon 10 set_cpu 1

# work NAME: runs a busy loop on that CPU, and writes its own account to $TMP/NAME.json, and the time that the host took
# from the CPU meanwhile to $TMP/NAME.stolen
work() {
	local before

	before=$(stolen_ns "cpu$cpu")
	taskset -c "$cpu" "$STACK_LOAD" chain 600 >"$TMP/$1.json"
	echo $(($(stolen_ns "cpu$cpu") - before)) >"$TMP/$1.stolen"
}

# links: prints the links of the service's programs. Each online CPU has one for its samples.
links() {
	# (descriptors come and go)
	{ grep -hs '^link_id:' "/proc/$KYMOD_PID/fdinfo/"* || true; } | sort -u
}
has_noticed_that_it_went() {
	[ "$(links | wc -l)" -lt "$(wc -l <"$TMP/links")" ]
}
# (a CPU that goes offline loses its link, and gets a new one even if it immediately comes back)
has_noticed_that_it_is_back() {
	links >"$TMP/links.now"
	[ "$(wc -l <"$TMP/links.now")" = "$(wc -l <"$TMP/links")" ] && ! cmp -s "$TMP/links.now" "$TMP/links"
}

record() {
	expect_exit 0 "$KYMO" start one --force -o "$TMP/t.fxt" -e sched,profile -F 499 -b 32M --bus "$BUS"
	work before
	links >"$TMP/links"
	expect_soon 10 set_cpu 0
	date +%s%N >"$TMP/off"
	expect_soon 20 has_noticed_that_it_went
	date +%s%N >"$TMP/on"
	expect_soon 10 set_cpu 1
	expect_soon 20 has_noticed_that_it_is_back
	work after
	links >"$TMP/links"
	expect_soon 10 set_cpu 0
	expect_soon 10 set_cpu 1
	expect_soon 20 has_noticed_that_it_is_back
	work again
	expect_recorded "$TMP/t.fxt" "$KYMO" stop one --bus "$BUS"
}

# (the whole machine is recorded: if other processes make a ring overflow, the test tries again)
record_without_loss() {
	local n

	for n in 1 2 3; do
		record
		something_was_lost >/dev/null || return 0
		note "disturbed (try $n): $(something_was_lost | tail -n 1)"
	done
	nothing_lost
}

judge() {
	local which pid cpu_ns n mapped scheduled_ns stolen boot real_ns boot_ns from to ran

	check_finds_nothing "$TMP/t.fxt"
	summarize "$TMP/t.fxt"
	assert_no_loss
	"$LIST_STACKS" "$TMP/t.fxt" >"$TMP/list"
	for which in before after again; do
		pid=$(json "$TMP/$which.json" .pid)
		cpu_ns=$(json "$TMP/$which.json" .cpu_ns)
		n=$(grep -c "^tick [0-9]* $pid .*/stack-load+" "$TMP/list" || true)
		mapped=$(grep -c "^mapping [0-9]* $pid .*/stack-load\$" "$TMP/list" || true)
		note "$which: $n samples in $((cpu_ns / 1000000)) ms on CPU $cpu"
		assert_ge "$mapped" 1 "mappings of the one that ran $which"
		# The program's own account begins a little after the program, and ends a little before it. Of the time that the host
		# took, each of the two can have a part that the other lacks.
		scheduled_ns=$(thread "$pid" cpu_ns)
		assert_samples "$n" 499 "$cpu_ns" "$scheduled_ns" 15 "samples of the one that ran $which"
		stolen=$(cat "$TMP/$which.stolen")
		assert_ge "$scheduled_ns" "$((cpu_ns * 95 / 100 - stolen))" "CPU time of the one that ran $which, by the schedule"
		assert_le "$scheduled_ns" "$((cpu_ns * 105 / 100 + stolen))" \
			"CPU time of the one that ran $which, by the schedule"
	done

	# While the CPU was offline, nothing ran there: the schedule has only idle, and the threads of the
	# transitions.
	dump_records "$TMP/t.fxt"
	boot=$(events clock | gojq -rs '.[0].args | "\(.realtime) \(.boottime)"')
	read -r real_ns boot_ns <<<"$boot"
	from=$(($(cat "$TMP/off") - real_ns + boot_ns))
	to=$(($(cat "$TMP/on") - real_ns + boot_ns))
	switches | awk -v cpu="$cpu" -v from="$from" -v to="$to" '$2 == cpu && $1 > from && $1 < to' >"$TMP/inside"
	assert_empty "$TMP/inside" "switches on a CPU that is off"
	ran=$(switches | awk -v cpu="$cpu" -v to="$from" '$2 == cpu && $1 <= to { last = $4 } END { print last + 0 }')
	assert_eq "$ran" 0 "the thread that runs on a CPU that is off"
}

start_bus
start_kymod
record_and_judge "$TMP/t.fxt" record_without_loss judge

# The machine is in its initial state again.
assert_eq "$(cat /sys/devices/system/cpu/online)" "$online" "CPUs that are on"
