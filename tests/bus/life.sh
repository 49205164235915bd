#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# An idle service exits in order, but not during a session or a call. The test `container` tests
# this with systemd. From meson, KYMOD is the daemon whose sessions need no kernel.

. "$(dirname "$0")/../lib.sh"
need_root
need_bus
need_command busctl

# Another bus, for a service without users.
TMP=$TMP/other
mkdir "$TMP"
start_bus
TMP=${TMP%/other}
OTHER_BUS=$BUS
start_bus

# idle_passes: waits longer than the idle time of the service below, by its own clock: it waits for
# the end of another service, which started later and has a longer idle time.
idle_passes() {
	RUNTIME_DIRECTORY=$TMP/other/run "$KYMOD" --bus "$OTHER_BUS" --idle-exit 3s >"$TMP/other.log" 2>&1 &
	local other=$!

	expect_soon 60 has_ended $other
	wait $other || fail "the one that nobody needs left with an error: $(cat "$TMP/other.log")"
}

expect_exit 2 "$KYMOD" --bus "$BUS" --idle-exit soon
assert_says "$TMP/stderr" "'soon' is not a time" "complaint"

"$KYMOD" --bus "$BUS" --idle-exit 2s >"$TMP/kymod.log" 2>&1 &
pid=$!
expect_soon 5 "$KYMO" list --bus "$BUS"
expect_exit 0 "$KYMO" start one -o "$TMP/one" --bus "$BUS"
idle_passes
! has_ended $pid || fail "it left a session alone: $(cat "$TMP/kymod.log")"
expect_exit 0 "$KYMO" stop one --bus "$BUS"
expect_soon 20 has_ended $pid
wait $pid || fail "it left with an error: $(cat "$TMP/kymod.log")"
assert_contains "$TMP/kymod.log" 'session/one: ended \(requested\)' "the message"
expect_exit 1 timeout "$(limit 10)" "$KYMO" list --bus "$BUS"

# Without the option, an idle service does not exit.
start_kymod
idle_passes
! has_ended "$KYMOD_PID" || fail "it left though nobody said that it may"
stop_kymod

# A killed service has the bus name until its reaper has closed the connection. The next service
# waits for this.
reaper_of() {
	local pid children

	read -ra children <"/proc/$1/task/$1/children" || true
	for pid in "${children[@]}"; do
		! grep -qx kymod-reaper "/proc/$pid/comm" || echo "$pid"
	done
}
let_reaper_go() {
	kill -CONT "$reaper" 2>/dev/null || true
}
start_kymod
# (it gives itself that name)
has_reaper() {
	reaper=$(reaper_of "$KYMOD_PID") && [ "$reaper" ]
}
expect_soon 20 has_reaper
kill -STOP "$reaper"
at_exit let_reaper_go
kill -KILL "$KYMOD_PID"
wait "$KYMOD_PID" || true
busctl --address="$BUS" monitor --match "type='method_call',member='RequestName'" >"$TMP/requests" 2>&1 &
monitor=$!
expect_soon 20 grep -q Monitoring "$TMP/requests"
"$KYMOD" --bus "$BUS" >"$TMP/next.log" 2>&1 &
KYMOD_PID=$!
has_asked_thrice() {
	[ "$(grep -c Member=RequestName "$TMP/requests")" -ge 3 ]
}
expect_soon 20 has_asked_thrice
kill $monitor
! has_ended "$KYMOD_PID" || fail "it did not wait for the name: $(cat "$TMP/next.log")"
let_reaper_go
expect_soon 10 "$KYMO" list --bus "$BUS"
stop_kymod
