#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A hostile caller (test-hostile.c), whom polkit lets trace. From meson, KYMOD is the one whose sessions need no kernel.

. "$(dirname "$0")/../lib.sh"
need_root
need_bus
need_command busctl

start_bus
export KYMO_TEST_BUS=$BUS
"$KYMOD" --bus "$BUS" --group 65534 >"$TMP/kymod.log" 2>&1 &
KYMOD_PID=$!
export KYMOD_PID
expect_soon 5 "$KYMO" list --bus "$BUS"
"$FAKE_POLKIT" &
may_trace() {
	busctl --address="$BUS" call org.freedesktop.PolicyKit1 /org/freedesktop/PolicyKit1/Authority \
		org.kymo.Test.Polkit SetAnswer ss org.kymo.Trace1.control yes
}
expect_soon 5 may_trace
# The bus is for everybody, its folder too.
chmod 755 "$TMP"
chmod 777 "$TMP/bus"

"$KYMO_TEST_HOSTILE"

expect_exit 0 "$KYMO" list --bus "$BUS"
assert_empty "$TMP/stdout" "list after all"
stop_kymod
