#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A session writes to a pipe that is not read. Another session loses nothing, and the daemon
# answers.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
start_bus
remember_bpf
start_kymod

mkfifo "$TMP/pipe"
# shellcheck disable=SC2217 # it holds the reading end and never reads
sleep 600 <"$TMP/pipe" &
reader=$!
"$KYMO" record -o - --bus "$BUS" >"$TMP/pipe" 2>"$TMP/blocked.log" &
blocked=$!
expect_soon 10 bash -c "'$KYMO' list --bus '$BUS' | grep running >/dev/null"

start_held naps sleep 4000 500
expect_exit 0 "$KYMO" start good -o "$TMP/good.fxt" -p "${HELD[naps]}" --bus "$BUS"
begin_held naps
# Far more than fits into a pipe and a queue.
"$KYMO_LOAD" --out "$TMP/pingpong.json" --cpu "$(last_cpu)" pingpong 300000
expect_exit 0 timeout "$(limit 5)" "$KYMO" list --bus "$BUS"
expect_exit 0 timeout "$(limit 5)" "$KYMO" status good --bus "$BUS"
wait_held naps
expect_exit 0 timeout "$(limit 20)" "$KYMO" stop good --bus "$BUS"
end_held naps

summarize "$TMP/good.fxt"
assert_no_loss
expect_exit 0 "$KYMO" check "$TMP/good.fxt"
napper=$(json "$TMP/naps.json" .napper.tid)
counted=$(json "$TMP/naps.json" '.napper | .nvcsw + .nivcsw')
dump_records "$TMP/good.fxt"
recorded=$(switches_from "$napper")
assert_ge "$recorded" "$counted" "switches from the napper"
assert_le "$recorded" $((counted + 3)) "switches from the napper"

# When the reader has ended, the blocked session ends by itself, with the reason.
is_gone $blocked && fail "the blocked session ended too early: $(cat "$TMP/blocked.log")"
kill $reader
status=0
wait_for 20 has_ended $blocked || fail "the session whose pipe broke did not end"
wait $blocked || status=$?
assert_eq $status 1 "exit status of the session whose pipe broke"
assert_says "$TMP/blocked.log" "the recording failed: cannot write to the output: Broken pipe" "why it ended"
stop_kymod
no_bpf_left
