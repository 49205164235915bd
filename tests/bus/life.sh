#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# When the service goes by itself: not while there is a session, not while it is called, and then in
# order. What systemd sees of it is tested in a container. From meson, KYMOD is the one whose
# sessions need no kernel.

. "$(dirname "$0")/../lib.sh"
need_root
need_bus

start_bus
expect_exit 2 "$KYMOD" --bus "$BUS" --idle-exit soon
assert_says "$TMP/stderr" "'soon' is not a time" "complaint"

"$KYMOD" --bus "$BUS" --idle-exit 2s >"$TMP/kymod.log" 2>&1 &
pid=$!
expect_soon 5 "$KYMO" list --bus "$BUS"
expect_exit 0 "$KYMO" start one -o "$TMP/one" --bus "$BUS"
sleep 3
! has_ended $pid || fail "it left a session alone: $(cat "$TMP/kymod.log")"
expect_exit 0 "$KYMO" stop one --bus "$BUS"
expect_soon 20 has_ended $pid
wait $pid || fail "it left with an error: $(cat "$TMP/kymod.log")"
assert_contains "$TMP/kymod.log" 'session/one: ended \(requested\)' "what it said"
expect_exit 1 timeout 10 "$KYMO" list --bus "$BUS"

# Without the option it stays.
start_kymod
sleep 3
! has_ended "$KYMOD_PID" || fail "it left though nobody said that it may"
stop_kymod
