#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 10,000 wakeups of a thread that really sleeps, by futex, pipe, timer and signal, on one CPU and
# across two: all are there, and each says who woke it - nobody, if it was a timer.
#
# Some kernels hide from all tracing what happens while certain threads run (a supervisor of the
# machine, say). A timer that expires just then is woken unseen, by ftrace as well: so the kernel's
# own tracer is asked how many of the timer's wakeups were to be seen.

. "$(dirname "$0")/../lib.sh"
need_btf

n=10000

# Mounts a tracefs of our own and sets up an instance that sees wakeups of threads called "sleeper".
witness=
start_witness() {
	[ "$witness" ] || {
		mkdir "$TMP/tracing"
		mount -t tracefs none "$TMP/tracing" || return 0
		at_exit umount "$TMP/tracing"
		mkdir "$TMP/tracing/instances/kymo-test-$$" || return 0
		at_exit rmdir "$TMP/tracing/instances/kymo-test-$$"
		witness=$TMP/tracing/instances/kymo-test-$$
		echo 8192 >"$witness/buffer_size_kb"
		echo 'comm == "sleeper"' >"$witness/events/sched/sched_waking/filter"
	}
	echo >"$witness/trace"
	echo 1 >"$witness/events/sched/sched_waking/enable"
}

# Prints what it saw.
stop_witness() {
	[ "$witness" ] || {
		echo $n
		return
	}
	echo 0 >"$witness/events/sched/sched_waking/enable"
	grep -c 'sched_waking: comm=sleeper' "$witness/trace" || true
}

# check KIND [load option ...]
check() {
	local kind=$1 what="$*" sleeper waker row all by_waker by_none slept seen

	shift
	rm -f "$TMP/t.fxt"
	start_witness
	record_around "$TMP/t.fxt" -- "$KYMO_LOAD" --out "$TMP/truth.json" "$@" wakeups "$kind" $n
	seen=$(stop_witness)
	sleeper=$(json "$TMP/truth.json" .sleeper)
	waker=$(json "$TMP/truth.json" .waker)
	slept=$(json "$TMP/truth.json" .slept)
	summarize "$TMP/t.fxt"
	assert_no_loss
	dump_records "$TMP/t.fxt"
	row=$(wakeups | awk -v sleeper="$sleeper" -v waker="$waker" '
		$3 == sleeper { all++; $4 == 0 ? none++ : $4 == waker ? right++ : other++ }
		END { print all + 0, right + 0, none + 0 }')
	read -r all by_waker by_none <<<"$row"
	note "$what: $all wakeups, $by_waker by the waker, $by_none by an interrupt; it slept $slept times"
	assert_eq "$(thread "$sleeper" wakeups)" "$all" "$what: wakeups that the summary counts"
	# Making the thread wakes it too, and moving it to its CPU may.
	assert_le $((all - by_waker - by_none)) 3 "$what: wakeups by others"
	if [ "$kind" = timer ]; then
		if [ "$seen" -lt "$slept" ]; then
			note "$what: this kernel hid $((slept - seen)) of them from its own tracer"
			# A few that it saw may have been made by tasks, at the start.
			assert_ge "$by_none" $((seen - 3)) "$what: wakeups by nobody"
			assert_ge "$by_none" $((slept / 2)) "$what: wakeups by nobody"
		else
			assert_eq "$by_none" "$slept" "$what: wakeups by nobody"
		fi
	else
		assert_eq "$by_waker" $n "$what: wakeups by the waker"
		assert_le "$by_none" 3 "$what: wakeups by nobody"
	fi
}

for kind in futex pipe signal timer; do
	check $kind --cpu 0 --waker-cpu 0
	[ "$(nproc)" = 1 ] || check $kind --cpu 0 --waker-cpu "$(last_cpu)"
done
check pipe
