#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# wakeups.sh [N]: N wakeups of a thread that really sleeps, by futex, pipe, timer, signal and a
# loopback connection, on one CPU and across two: all are present, and each names its waker. The
# waker is an interrupt for a timer, and the sender for a packet over the loopback device, because
# the packet is received in a softirq that the sender runs.
#
# Some kernels hide all events while certain threads run (for example, a supervisor of the machine).
# The wakeup by a timer that expires at such a time is not visible.

. "$(dirname "$0")/../lib.sh"
need_btf

n=${1:-1000}
disturbed=

# unseen TID: prints how often TID was switched in after sleep without a wakeup, and in how many of
# these cases no hidden thread ran meanwhile. A thread is hidden if the archive has no switch-out of
# it.
unseen() {
	{
		switches | awk '{ print $1, "switch", $2, $3, $4, $6, $5 }'
		wakeups | awk -v tid="$1" '$3 == tid { print $1, "wakeup" }'
	} | sort -s -n -k1,1 >"$TMP/order"
	awk -v tid="$1" '
		$2 == "switch" && NR == FNR { came[$5]++; left[$4] += !$6; next }
		NR == FNR { next }
		function hidden(t) {
			return t && came[t] && !left[t]
		}
		$2 == "wakeup" { asleep = 0 }
		$2 == "switch" {
			runs[$3] = $5
			if ($4 == tid && $7 == "blocked") {
				asleep = 1
				excused = 0
			}
			for (cpu in runs)
				excused += hidden(runs[cpu]) || hidden($4)
			if ($5 == tid && asleep) {
				unseen++
				unexcused += !excused
				asleep = 0
			}
		}
		END { print unseen + 0, unexcused + 0 }' "$TMP/order" "$TMP/order"
}

# check KIND [load option ...]
check() {
	local kind=$1 what="$*" sleeper waker row all by_waker by_none slept unseen unexcused

	shift
	rm -f "$TMP/t.fxt"
	record_around "$TMP/t.fxt" -- "$KYMO_LOAD" --out "$TMP/truth.json" "$@" wakeups "$kind" "$n"
	sleeper=$(json "$TMP/truth.json" .sleeper)
	waker=$(json "$TMP/truth.json" .waker)
	slept=$(json "$TMP/truth.json" .slept)
	summarize "$TMP/t.fxt"
	assert_no_loss
	dump_records "$TMP/t.fxt"
	row=$(wakeups | awk -v sleeper="$sleeper" -v waker="$waker" '
		# (pseudo-threads of interrupts have numbers above all tids)
		$3 == sleeper { all++; $4 > 4194304 ? none++ : $4 == waker ? right++ : other++ }
		END { print all + 0, right + 0, none + 0 }')
	read -r all by_waker by_none <<<"$row"
	note "$what: $all wakeups, $by_waker by the waker, $by_none by an interrupt; it slept $slept times"
	assert_eq "$(thread "$sleeper" wakeups)" "$all" "$what: wakeups that the summary counts"
	# The creation of the thread also wakes it, and its move to its CPU may wake it.
	assert_le $((all - by_waker - by_none)) 3 "$what: wakeups by others"
	if [ "$kind" = timer ]; then
		read -r unseen unexcused <<<"$(unseen "$sleeper")"
		[ "$unseen" = 0 ] || note "$what: $unseen of them while a hidden thread ran"
		assert_eq "$unexcused" 0 "$what: wakeups that are missing"
		assert_le "$unseen" $((slept / 5)) "$what: wakeups while a hidden thread ran"
		assert_ge $((by_none + unseen)) "$slept" "$what: wakeups by interrupts"
		assert_le $((by_none + unseen)) $((slept + 3)) "$what: wakeups by interrupts"
	elif [ "$kind" = tcp ]; then
		# An interrupt may process a packet before the sender does.
		assert_ge "$by_waker" $((n * 99 / 100)) "$what: wakeups by the waker"
		assert_ge "$(grep -F '"thread_wakeup"' "$DUMP" | gojq -c "select(.waking_thread_id == $sleeper) | .args[] |
			select(.name == \"context\" and .value == \"softirq\")" | wc -l)" $((n * 99 / 100)) "$what: in a softirq"
	else
		assert_eq "$by_waker" "$n" "$what: wakeups by the waker"
		assert_le "$by_none" 3 "$what: wakeups by interrupts"
	fi
}

for kind in futex pipe signal tcp timer; do
	# (threads that compete for the same CPU take it for a while at each wakeup)
	if [ $SECONDS -ge 20 ] && [ -z "$disturbed$*" ]; then
		disturbed=yes
		n=$((n / 10))
		note "disturbed: others want the CPUs, so it is a tenth of the wakeups from here on"
	fi
	check $kind --cpu 0 --waker-cpu 0
	[ "$(nproc)" = 1 ] || check $kind --cpu 0 --waker-cpu "$(last_cpu)"
done
check pipe

# Beside a load that keeps the CPUs switching, wakeups race with switch-outs and delayed dequeues.
if [ "$(nproc)" -gt 1 ]; then
	"$KYMO_LOAD" pingpong 100000000 >/dev/null &
	busy=$!
	for kind in futex pipe signal; do
		check $kind --cpu 0 --waker-cpu "$(last_cpu)"
	done
	kill $busy
fi
