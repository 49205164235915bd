#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A ping-pong of 50,000 round trips pinned to one CPU: every switch is there, nothing is lost, the
# time of each CPU adds up, and the time of the two threads agrees with the kernel's statistics.

. "$(dirname "$0")/../lib.sh"
need_btf

rounds=50000
cpu=$(last_cpu)

record() {
	rm -f "$TMP/t.fxt"
	record_around "$TMP/t.fxt" -- \
		"$KYMO_LOAD" --out "$TMP/truth.json" --cpu "$cpu" pingpong $rounds
	summarize "$TMP/t.fxt"
	assert_no_loss
}

# agrees NAME: whether the time of the thread agrees with the kernel's statistics
agrees() {
	awk -v a="$(thread "$(json "$TMP/truth.json" ".$1.tid")" cpu_ns)" \
		-v b="$(json "$TMP/truth.json" ".$1.cpu_ns")" \
		'BEGIN { d = a > b ? a - b : b - a; exit d > b * 0.02 }'
}

# Time that a hypervisor gives to other guests counts as run time here, but not in the kernel's
# statistics, and less than 10 ms of it is not reported. So one undisturbed run is enough.
for _ in 1 2 3 4 5; do
	record
	stolen=$(json "$TMP/truth.json" .steal_ns)
	if [ "$stolen" = 0 ] && agrees ping && agrees pong; then
		break
	fi
done

dump_records "$TMP/t.fxt"
switches >"$TMP/switches"
ping=$(json "$TMP/truth.json" .ping.tid)
pong=$(json "$TMP/truth.json" .pong.tid)

# On one CPU, each pass of the ball is a switch from one thread to the other, although a kernel
# thread sometimes runs between them.
awk -v ping="$ping" -v pong="$pong" '
	$4 != ping && $4 != pong { next }
	{ direct += $3 == ping || $3 == pong }
	$4 != last { n++ }
	{ last = $4 }
	END { print n + 0, direct + 0 }' "$TMP/switches" >"$TMP/counts"
read -r between direct <"$TMP/counts"
note "$between switches between the two threads, $direct of them directly"
assert_ge "$between" $((2 * rounds)) "switches between ping and pong"

# Exactly as many as the kernel counted until the end of the loop, and the last sleep and exit.
for name in ping pong; do
	tid=$(json "$TMP/truth.json" ".$name.tid")
	counted=$(json "$TMP/truth.json" ".$name | .nvcsw + .nivcsw")
	recorded=$(awk -v tid="$tid" '$3 == tid && !$6' "$TMP/switches" | wc -l)
	assert_ge "$recorded" $((counted + 1)) "switches from $name"
	assert_le "$recorded" $((counted + 3)) "switches from $name"
	assert_eq "$(thread "$tid" name)" $name "name of thread $tid"
	if [ "$stolen" = 0 ]; then
		assert_within "$(thread "$tid" cpu_ns)" "$(json "$TMP/truth.json" ".$name.cpu_ns")" 2 \
			"CPU time of $name"
	else
		note "CPU time of $name not compared: $stolen ns were stolen"
	fi
done

# The distributions have the same times as the summary.
expect_read "$TMP/t.fxt" "$KYMO" latency --json --by thread -n 100000 "$TMP/t.fxt"
cp "$TMP/stdout" "$TMP/latency.json"
for name in ping pong; do
	tid=$(json "$TMP/truth.json" ".$name.tid")
	of() {
		json "$TMP/latency.json" ".metrics.$1.rows[] | select(.tid == $tid).$2"
	}
	# (it can be waiting when the recording ends)
	assert_eq "$(($(of ready sum_ns) + $(of ready 'longest_open_ns // 0')))" "$(thread "$tid" runnable_ns)" "waits of $name for a CPU"
	assert_eq "$(of wakeup max_ns)" "$(thread "$tid" max_wakeup_latency_ns)" "longest wait of $name"
	# (runs whose begin or end the kernel did not report have no known duration)
	assert_within "$(of wakeup sum_ns)" "$(thread "$tid" after_wakeup_ns)" 5 "waits of $name after wakeups"
	assert_within "$(of run sum_ns)" "$(thread "$tid" cpu_ns)" 5 "runs of $name"
	assert_ge "$(of wakeup count)" 1000 "runs of $name after wakeups"
done

# explained NAME: the kernel counts the time from a wakeup until the thread runs as waiting, as
# running, or not at all (before the thread is queued). All other times are equal, within 2 % of the
# sum.
explained() {
	json "$SUMMARY" '($truth | fromjson)[$name] as $k | .threads[] | select(.tid == $k.tid) |
		((.cpu_ns + .runnable_ns) / 50) as $slack |
		$k.cpu_ns >= .cpu_ns - $slack and $k.cpu_ns <= .cpu_ns + .after_wakeup_ns + $slack and
		$k.wait_ns >= .runnable_ns - .after_wakeup_ns - $slack and
		$k.wait_ns <= .runnable_ns + $slack and
		$k.cpu_ns + $k.wait_ns <= .cpu_ns + .runnable_ns + $slack' \
		--arg name "$1" --arg truth "$(cat "$TMP/truth.json")" | grep -x true >/dev/null
}

# all_explained: explained for both threads. Time of the hypervisor is in neither of the kernel's
# times.
all_explained() {
	[ "$(json "$TMP/truth.json" .steal_ns)" != 0 ] || { explained ping && explained pong; }
}
all_explained || fail "times of the kernel: $(cat "$TMP/truth.json"), ours: $(json "$SUMMARY" '.threads[] | select(.name == "ping" or .name == "pong")')"

note "threads that preempt what runs, whose time after a wakeup the kernel counts as running"
for _ in 1 2 3; do
	rm -f "$TMP/t.fxt"
	record_around "$TMP/t.fxt" -- chrt -f 1 "$KYMO_LOAD" --out "$TMP/truth.json" pingpong 5000
	summarize "$TMP/t.fxt"
	all_explained && break
done
all_explained || fail "times of the kernel: $(cat "$TMP/truth.json"), ours: $(json "$SUMMARY" '.threads[] | select(.name == "ping" or .name == "pong")')"
assert_ge "$(thread "$(json "$TMP/truth.json" .ping.tid)" after_wakeup_ns)" 1000000 "time after wakeups"
expect_read "$TMP/t.fxt" "$KYMO" summary "$TMP/t.fxt"
assert_contains "$TMP/stdout" '^    RUNNABLE includes .* after wakeups; the kernel \(schedstat\) counts part of it as CPU' "the difference"

# adds_up: whether busy + idle is the duration, on every CPU of this machine
adds_up() {
	local cpu busy idle

	assert_eq "$(json "$SUMMARY" '.cpus | length')" "$(nproc --all)" "number of CPUs"
	while read -r cpu busy idle; do
		assert_within $((busy + idle)) "$(json "$SUMMARY" .duration_ns)" 1 "busy and idle of CPU $cpu"
	done < <(json "$SUMMARY" '.cpus[] | [.cpu, .busy_ns, .idle_ns] | @tsv')
}
adds_up

# A recording that is so short that a CPU may not switch at all: it is busy all the time, or idle.
quiet=no
"$KYMO_LOAD" --cpu "$cpu" spin 30000 >"$TMP/spin" &
spinner=$!
chrt -f -p 1 $spinner 2>/dev/null || note "the spinner could not be made real-time"
for i in 1 2 3 4 5 6 7 8; do
	expect_exit 0 "$KYMO" record --direct -d 10ms -o "$TMP/short$i.fxt"
	summarize "$TMP/short$i.fxt"
	adds_up
	[ "$(json "$SUMMARY" '[.cpus[] | select(.switches == 0)] | length')" = 0 ] || {
		quiet=yes
		break
	}
done
kill $spinner
if [ $quiet = yes ]; then
	note "one CPU never switched"
	if [ "$(json "$SUMMARY" ".cpus[] | select(.cpu == $cpu) | .switches")" = 0 ]; then
		assert_within "$(json "$SUMMARY" ".cpus[] | select(.cpu == $cpu) | .busy_ns")" \
			"$(json "$SUMMARY" .duration_ns)" 1 "busy time of the spinner's CPU"
	fi
else
	note "every CPU switched in every 10 ms; that case was not seen"
fi
