#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What callers of the service may rely on, with sessions that need no kernel: test-manager.c over a
# bus, and what can be seen from outside only. From meson, KYMOD is the one with such sessions.

. "$(dirname "$0")/../lib.sh"
need_root
need_bus

start_bus
bus_pid=$!
"$KYMOD" --bus "$BUS" --group 65534 >"$TMP/kymod.log" 2>&1 &
KYMOD_PID=$!
expect_soon 5 "$KYMO" list --bus "$BUS"
open_bus_to_all

"$KYMO_TEST_MANAGER"

# The name is there once.
expect_exit 1 timeout 10 "$KYMOD" --bus "$BUS"
assert_contains "$TMP/stderr" 'org.kymo.Trace1 is taken' "complaint of a second kymod"

# An output that takes nothing any more: stop says so and removes the session; record hears of it.
expect_exit 0 "$KYMO" start hang -o "$TMP/stuck" --bus "$BUS"
expect_exit 1 timeout 30 "$KYMO" stop hang --bus "$BUS"
assert_contains "$TMP/stderr" 'takes nothing any more' "complaint about a stuck output"
"$KYMO" record -o "$TMP/hang" --bus "$BUS" 2>"$TMP/record.log" &
record_pid=$!
expect_soon 5 grep -q start "$TMP/hang"
expect_exit 1 timeout 30 "$KYMO" stop "record_$record_pid" --bus "$BUS"
status=0
wait "$record_pid" || status=$?
assert_eq "$status" 1 "exit status of a recording that was removed"
assert_contains "$TMP/record.log" 'before its archive was complete' "complaint of that recording"
expect_exit 0 "$KYMO" list --bus "$BUS"
assert_empty "$TMP/stdout" "list after that"

# The end of the service completes archives, and who recorded one is told so.
expect_exit 0 "$KYMO" start last -o "$TMP/last" --bus "$BUS"
"$KYMO" record -o "$TMP/recorded" --bus "$BUS" 2>"$TMP/record.log" &
record_pid=$!
expect_soon 5 grep -q start "$TMP/recorded"
stop_kymod
wait "$record_pid" || fail "a recording failed with the orderly end of the service: $(cat "$TMP/record.log")"
assert_contains "$TMP/record.log" '^.*recorded: .* events, ' "what record says at the end of the service"
assert_contains "$TMP/recorded" '^stop service stopped$' "its archive"
assert_contains "$TMP/last" '^stop service stopped$' "archive of a session that ran at the end"

# Wrong words, no bus, no rights.
expect_exit 2 "$KYMOD" --no-such-option
expect_exit 2 "$KYMOD" word
expect_exit 0 "$KYMOD" --help
expect_exit 0 "$KYMOD" --version
expect_exit 1 "$KYMOD" --bus "unix:path=$TMP/nobus"
assert_contains "$TMP/stderr" 'cannot connect to the bus' "complaint without a bus"
cp "$KYMOD" "$TMP/kymod"
expect_exit 1 setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
	--bounding-set=-all "$TMP/kymod" --bus "$BUS"
assert_contains "$TMP/stderr" 'needs root' "complaint without rights"

# The bus goes: archives are completed, and the daemon ends, with 1.
"$KYMOD" --bus "$BUS" >"$TMP/kymod.log" 2>&1 &
KYMOD_PID=$!
expect_soon 5 "$KYMO" list --bus "$BUS"
expect_exit 0 "$KYMO" start alone -o "$TMP/alone" --bus "$BUS"
kill "$bus_pid"
status=0
wait "$KYMOD_PID" || status=$?
assert_eq "$status" 1 "exit status without a bus"
assert_contains "$TMP/alone" '^stop service stopped$' "archive of a session whose bus went"
