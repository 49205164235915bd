#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two parallel sessions of one daemon, with different filters: each contains exactly the selected
# threads, and the stop of one does not affect the other.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
start_bus
remember_bpf
start_kymod

# A name that no other process on this machine has.
tag=$((BASHPID % 1000000))
# One process naps while both sessions record, the other one after the end of the first session.
start_held during sleep 2000 500
start_held after sleep 500 500
expect_exit 0 "$KYMO" start by_name -o "$TMP/by_name.fxt" --comm ping$tag --bus "$BUS"
expect_exit 0 "$KYMO" start by_pid -o "$TMP/by_pid.fxt" -p "${HELD[during]},${HELD[after]}" --bus "$BUS"
expect_exit 0 "$KYMO" list --bus "$BUS"
assert_says "$TMP/stdout" by_name "list of sessions"
assert_says "$TMP/stdout" by_pid "list of sessions"
session_is_running by_name || fail "by_name does not run"
session_is_running by_pid || fail "by_pid does not run"

begin_held during
"$KYMO_LOAD" --out "$TMP/pingpong.json" --cpu "$(last_cpu)" --tag $tag pingpong 5000
expect_exit 0 "$KYMO" stop by_name --bus "$BUS"
expect_exit 0 "$KYMO" mark by_pid "the other one has ended" --bus "$BUS"
begin_held after
wait_held during
wait_held after
expect_exit 0 "$KYMO" stop by_pid --bus "$BUS"
end_held during
end_held after

# only_these FILE PIDS: checks that FILE has only processes of PIDS, a JSON array, and
# pseudo-threads
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
# It gets its name shortly after its fork, and sleeps and exits once more after the count.
assert_within "$recorded" "$counted" 0.1 "switches from ping"

summarize "$TMP/by_pid.fxt"
assert_no_loss
only_these "[${HELD[during]}, ${HELD[after]}]"
dump_records "$TMP/by_pid.fxt"
for name in during after; do
	napper=$(json "$TMP/$name.json" .napper.tid)
	counted=$(json "$TMP/$name.json" '.napper | .nvcsw + .nivcsw')
	recorded=$(switches_from "$napper")
	note "$recorded switches from the one that naps $name, of $counted"
	assert_ge "$recorded" "$counted" "switches from the one that naps $name"
	assert_le "$recorded" $((counted + 3)) "switches from the one that naps $name"
done
marked=$(events mark | gojq .timestamp_ns)
late=$(switches | awk -v tid="$napper" -v marked="$marked" '$3 == tid && $1 > marked' | wc -l)
assert_eq "$late" "$recorded" "switches after the other session was stopped"
assert_ge "$late" 500 "switches after the other session was stopped"

stop_kymod
no_bpf_left
