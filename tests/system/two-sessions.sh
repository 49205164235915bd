#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two sessions of one daemon at once, with different filters: each holds what it should and nothing
# else, and stopping one leaves the other whole.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
start_bus
remember_bpf
start_kymod

# (they last for longer than stopping a session takes where others want the CPU)
naps=6000
# A name that nobody else on this machine has.
tag=$((BASHPID % 1000000))
start_held naps sleep $naps 500
expect_exit 0 "$KYMO" start by_name -o "$TMP/by_name.fxt" --comm ping$tag --bus "$BUS"
expect_exit 0 "$KYMO" start by_pid -o "$TMP/by_pid.fxt" -p "${HELD[naps]}" --bus "$BUS"
expect_exit 0 "$KYMO" list --bus "$BUS"
assert_says "$TMP/stdout" by_name "list of sessions"
assert_says "$TMP/stdout" by_pid "list of sessions"
session_is_running by_name || fail "by_name does not run"
session_is_running by_pid || fail "by_pid does not run"

begin_held naps
"$KYMO_LOAD" --out "$TMP/pingpong.json" --cpu "$(last_cpu)" --tag $tag pingpong 5000
expect_exit 0 "$KYMO" mark by_pid "the other one ends" --bus "$BUS"
expect_exit 0 "$KYMO" stop by_name --bus "$BUS"
# The rest of the naps comes after the end of the first session.
[ ! -s "$TMP/naps.json" ] || fail "the naps were over before the first session was stopped"
wait_held naps
expect_exit 0 "$KYMO" stop by_pid --bus "$BUS"
end_held naps

# only_these FILE PIDS: a JSON array; other than them there are only pseudo-threads
only_these() {
	# (process 2 stands for the kernel, whose mappings are the same for all)
	json "$SUMMARY" ".threads[] | select(.tid < 4194304 and .tid != 0 and .tid != 2) |
		select(.pid as \$p | $1 | index(\$p) | not) | [.pid, .tid, .name] | @tsv" >"$TMP/strangers"
	assert_empty "$TMP/strangers" "threads that the filter should have left out"
}

for name in by_name by_pid; do
	expect_exit 0 "$KYMO" check "$TMP/$name.fxt"
done

summarize "$TMP/by_name.fxt"
assert_no_loss
only_these "[$(json "$TMP/pingpong.json" .pid)]"
assert_eq "$(json "$SUMMARY" "[.threads[] | select(.name == \"pong$tag\")] | length")" 0 \
	"threads called pong"
ping=$(json "$TMP/pingpong.json" .ping.tid)
dump_records "$TMP/by_name.fxt"
counted=$(json "$TMP/pingpong.json" '.ping | .nvcsw + .nivcsw')
recorded=$(switches_from "$ping")
# It has its name only a moment after its birth, and sleeps and exits once more after the count.
assert_within "$recorded" "$counted" 0.1 "switches from ping"

summarize "$TMP/by_pid.fxt"
assert_no_loss
only_these "[${HELD[naps]}]"
napper=$(json "$TMP/naps.json" .napper.tid)
dump_records "$TMP/by_pid.fxt"
counted=$(json "$TMP/naps.json" '.napper | .nvcsw + .nivcsw')
recorded=$(switches_from "$napper")
assert_ge "$recorded" "$counted" "switches from the napper"
assert_le "$recorded" $((counted + 3)) "switches from the napper"
marked=$(events mark | jq .timestamp_ns)
after=$(switches | awk -v tid="$napper" -v marked="$marked" '$3 == tid && $1 > marked' | wc -l)
note "$recorded switches from the napper, $after after the other session was stopped"
assert_ge "$after" 100 "switches after the other session was stopped"

stop_kymod
no_bpf_left
