#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two minutes of a machine under load of all kinds, with four short sessions at a time: nothing is
# lost, every archive is clean, the daemon does not grow, and nothing is left behind.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
start_bus
remember_bpf
start_kymod

seconds=${ENDURANCE_SECONDS:-120}

# The daemon's own memory. Its rings are mapped, and their pages are touched one after the other.
memory_kib() {
	awk '/^RssAnon/ { print $2 }' "/proc/$KYMOD_PID/status"
}

# The load has pauses, because four archives of a machine at full speed exceed the speed of many
# disks.
busy() {
	while :; do
		"$KYMO_LOAD" pingpong 10000 >/dev/null
		"$KYMO_LOAD" procs 200 >/dev/null
		"$KYMO_LOAD" wakeups futex 2000 >/dev/null
		"$KYMO_LOAD" reuse 20 >/dev/null
		sleep 0.2
	done
}
busy &
load=$!

expect_exit 0 "$KYMO" start whole -o "$TMP/whole.fxt" -b 16M --bus "$BUS"
start=$SECONDS
rounds=0
while [ $((SECONDS - start)) -lt "$seconds" ]; do
	for i in 1 2 3; do
		rm -f "$TMP/part$i.fxt"
		expect_exit 0 "$KYMO" start part$i -o "$TMP/part$i.fxt" -b 16M --comm ping --bus "$BUS"
	done
	expect_exit 0 "$KYMO" mark whole "round $rounds" --bus "$BUS"
	sleep 2
	for i in 3 1 2; do
		expect_exit 0 "$KYMO" stop part$i --bus "$BUS"
		expect_exit 0 "$KYMO" check "$TMP/part$i.fxt"
	done
	rounds=$((rounds + 1))
	# Memory of the first rounds is not released.
	[ $rounds != 5 ] || early=$(memory_kib)
done
late=$(memory_kib)
expect_exit 0 "$KYMO" stop whole --bus "$BUS"
kill $load

note "$rounds rounds; memory of kymod after 5: ${early:-$late} KiB, at the end: $late KiB"
assert_le "$late" $((${early:-$late} + 8192)) "memory of kymod in KiB"
expect_exit 0 "$KYMO" check "$TMP/whole.fxt"
summarize "$TMP/whole.fxt"
assert_no_loss
assert_eq "$(json "$SUMMARY" '.marks | length')" $rounds "marks"
stop_kymod
no_bpf_left
