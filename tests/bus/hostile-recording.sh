#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A hostile caller beside a recording of root, which loses nothing and is complete.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
need_command busctl

start_bus
start_kymod
open_bus_to_all
start_fake_polkit
polkit_says control yes
remember_bpf

start_held game pingpong 40000
expect_exit 0 "$KYMO" start victim -o "$TMP/victim.fxt" -e sched -b 32M -p "${HELD[game]}" --bus "$BUS"
setpriv --reuid=1 --regid=1 --clear-groups "$KYMO_TEST_HOSTILE" attack &
attack=$!
begin_held game
wait_held game
# The service answers during the attack.
expect_exit 0 "$KYMO" mark victim 'in the middle' --bus "$BUS"
wait "$attack" || fail "the attacker saw what he should not"
expect_exit 0 "$KYMO" mark victim 'after it' --bus "$BUS"
session_is_running victim || fail "the recording does not run any more"
expect_exit 0 "$KYMO" stop victim --bus "$BUS"
end_held game
expect_exit 0 "$KYMO" check "$TMP/victim.fxt"
summarize "$TMP/victim.fxt"
assert_no_loss
assert_ge "$(json "$SUMMARY" .events.switch)" 80000 "switches"
dump_records "$TMP/victim.fxt"
assert_eq "$(events mark | gojq -r .args.text)" $'in the middle\nafter it' "marks"
expect_exit 0 "$KYMO" list --bus "$BUS"
assert_empty "$TMP/stdout" "list after all"
stop_kymod
no_bpf_left "the service"
