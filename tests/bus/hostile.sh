#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A hostile caller (test-hostile.c), to whom polkit gives the right to trace. From meson, KYMOD is
# the daemon whose sessions need no kernel.

. "$(dirname "$0")/../lib.sh"
need_root
need_bus
need_command busctl

# (the socket of programs that write events of their own)
export KYMO_PROVIDER_DIR=$TMP/run
start_bus
"$KYMOD" --bus "$BUS" --group 65534 >"$TMP/kymod.log" 2>&1 &
KYMOD_PID=$!
export KYMOD_PID
expect_soon 5 "$KYMO" list --bus "$BUS"
open_bus_to_all
start_fake_polkit
polkit_says control yes

"$KYMO_TEST_HOSTILE"

expect_exit 0 "$KYMO" list --bus "$BUS"
assert_empty "$TMP/stdout" "list after all"
stop_kymod
