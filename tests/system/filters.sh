#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The effect of each filter: everything that it selects, and nothing else.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command setpriv

# only PIDS: checks that the archive has only threads of PIDS, a JSON array. If a sample hit the
# kernel, kthreadd is also named, because the kernel's mappings belong to it. It may have no times.
only() {
	json "$SUMMARY" ".threads[] | select(.tid < 4194304 and .tid != 0) |
		select(.tid != 2 or .cpu_ns > 0) |
		select(.pid as \$p | $1 | index(\$p) | not) | [.pid, .tid, .name] | @tsv" >"$TMP/strangers"
	assert_empty "$TMP/strangers" "threads that the filter should have left out"
}

# mapped FILE PID PIDS: checks that the archive has the mappings of PID, and only mappings of
# processes in PIDS, a JSON array
mapped() {
	"$LIST_STACKS" "$1" | awk '$1 == "mapping" && $3 != 2' >"$TMP/mappings"
	assert_ge "$(awk -v p="$2" '$3 == p && /\/kymo-load$/' "$TMP/mappings" | wc -l)" 1 \
		"mappings of its program in process $2"
	awk '{ print $3 }' "$TMP/mappings" | sort -u >"$TMP/with-mappings"
	gojq -r '.[]' <<<"$3" | sort -u | comm -13 - "$TMP/with-mappings" >"$TMP/strangers"
	assert_empty "$TMP/strangers" "processes with mappings that the filter should have left out"
}

# whole TRUTH: checks that all switches of the napper are present. It counted them shortly before
# its end. (On a busy machine, it is preempted a few more times during its exit.)
whole() {
	local counted recorded

	counted=$(json "$1" '.napper | .nvcsw + .nivcsw')
	recorded=$(switches_from "$(json "$1" .napper.tid)")
	assert_ge "$recorded" "$counted" "switches from the napper"
	assert_le "$recorded" $((counted + 12)) "switches from the napper"
}

# gone TRUTH: checks that each process in TRUTH has its last switch-out at its end, although a
# filter by pid no longer selects it. No process stays running.
gone() {
	local pid

	for pid in $(json "$1" '.children[].pid'); do
		awk -v pid="$pid" '$3 == pid { state = $5 } END { exit state != "dead" }' \
			"$TMP/switches" || fail "process $pid is not dead at its end"
		assert_le "$(json "$SUMMARY" "[.threads[] | select(.tid == $pid) | .cpu_ns] | add")" \
			500000000 "CPU time of process $pid, which lived for milliseconds"
	done
}

# Load that must not be visible.
"$KYMO_LOAD" sleep 1000000 200 &
other=$!

note "pid, with children"
start_held family procs 50
"$KYMO" record --direct -e sched -p "${HELD[family]}" -o "$TMP/pid.fxt" 2>"$TMP/record.log" &
recorder=$!
expect_soon 10 test -s "$TMP/pid.fxt"
sleep 0.5
begin_held family
wait_held family
kill -INT $recorder
wait $recorder || fail "recording failed: $(cat "$TMP/record.log")"
end_held family
summarize "$TMP/pid.fxt"
assert_no_loss
only "$(gojq -c '[.pid, .children[].pid]' "$TMP/family.json")"
json "$TMP/family.json" '.children[] | [.pid, .name] | @tsv' | sort >"$TMP/truth"
json "$SUMMARY" '.threads[] | [.tid, .name] | @tsv' | sort >"$TMP/trace"
comm -23 "$TMP/truth" "$TMP/trace" >"$TMP/missing"
assert_empty "$TMP/missing" "children that are missing"
dump_records "$TMP/pid.fxt"
switches >"$TMP/switches"
gone "$TMP/family.json"
mapped "$TMP/pid.fxt" "${HELD[family]}" "$(gojq -c '[.pid, .children[].pid]' "$TMP/family.json")"

note "pid, with children and grandchildren that are there already, and those that come meanwhile"
# The middle process forks all the time, also while the recorder lists the existing processes. Every
# child lives to the end, and is switched out from time to time.
bash -c 'bash -c "$1" "$@" & wait' bash '
	trap "kill \$(jobs -p); exit" TERM
	until [ -e "$2/enough" ]; do
		"$1" sleep 1000000 50000 >/dev/null &
		sleep 0.01
	done
	sleep 0.1
	touch "$2/stopped"
	while :; do sleep 0.05; done' "$KYMO_LOAD" "$TMP" 2>/dev/null &
grandparent=$!
expect_soon 10 pgrep -P $grandparent
middle=$(pgrep -P $grandparent)
at_exit bash -c "kill $middle 2>/dev/null"
expect_soon 10 pgrep -P "$middle" -x kymo-load
n_before=$(pgrep -P "$middle" -x kymo-load | wc -l)
"$KYMO" record --direct -e sched -p $grandparent -o "$TMP/present.fxt" 2>"$TMP/record.log" &
recorder=$!
expect_soon 10 test -s "$TMP/present.fxt"
touch "$TMP/enough"
expect_soon 10 test -e "$TMP/stopped"
pgrep -P "$middle" -x kymo-load | sort >"$TMP/truth"
# naps PID: prints how often the process has left its CPU
naps() {
	awk '/^voluntary_ctxt_switches:/ { print $2 }' "/proc/$1/status"
}
while read -r pid; do
	echo "$pid $(naps "$pid")"
done <"$TMP/truth" >"$TMP/naps"
all_have_napped() {
	local pid before

	while read -r pid before; do
		[ "$(naps "$pid")" -ge $((before + 2)) ] || return 1
	done <"$TMP/naps"
}
expect_soon 20 all_have_napped
kill -INT $recorder
wait $recorder || fail "recording failed: $(cat "$TMP/record.log")"
kill "$middle"
wait $grandparent || true
summarize "$TMP/present.fxt"
assert_no_loss
json "$SUMMARY" '.threads[] | select(.cpu_ns > 0) | .pid' | sort -u >"$TMP/trace"
comm -23 "$TMP/truth" "$TMP/trace" >"$TMP/missing"
assert_empty "$TMP/missing" "children that are missing"
assert_ge "$(wc -l <"$TMP/truth")" $((n_before + 1)) "children"
only "[$middle, $grandparent, $(paste -sd, "$TMP/truth")] + $(
	json "$SUMMARY" '[.threads[] | select(.name | IN("bash", "sleep", "touch")) | .pid]' -c)"

note "comm"
# A name that no other process on this machine has.
tag=$((BASHPID % 1000000))
record_around "$TMP/comm.fxt" -e sched --comm pong$tag -- \
	"$KYMO_LOAD" --out "$TMP/truth.json" --cpu "$(last_cpu)" --tag $tag pingpong 2000
summarize "$TMP/comm.fxt"
dump_records "$TMP/comm.fxt"
only "$(gojq -c '[.pid]' "$TMP/truth.json")"
mapped "$TMP/comm.fxt" "$(json "$TMP/truth.json" .pid)" "$(gojq -c '[.pid]' "$TMP/truth.json")"
assert_eq "$(json "$SUMMARY" "[.threads[] | select(.name == \"ping$tag\")] | length")" 0 \
	"threads called ping"
# It gets its name only shortly after its fork.
assert_within "$(switches_from "$(json "$TMP/truth.json" .pong.tid)")" \
	"$(json "$TMP/truth.json" '.pong | .nvcsw + .nivcsw')" 0.2 "switches from pong"
# Threads that were left out are "other", which is not idle.
assert_ge "$(json "$SUMMARY" '[.cpus[].other_ns] | add')" 1 "time of others"

note "uid"
# A user without other processes.
uid=$((100000 + BASHPID))
# A user who cannot search the directory cannot run a program in it.
chmod 755 "$TMP"
cp "$KYMO_LOAD" "$TMP/kymo-load"
mkdir -m 777 "$TMP/truths"
record_around "$TMP/uid.fxt" -e sched --uid $uid -- \
	setpriv --reuid=$uid --regid=$uid --clear-groups \
	"$TMP/kymo-load" --out "$TMP/truths/uid.json" sleep 500 200
summarize "$TMP/uid.fxt"
dump_records "$TMP/uid.fxt"
only "$(gojq -c '[.pid]' "$TMP/truths/uid.json")"
mapped "$TMP/uid.fxt" "$(json "$TMP/truths/uid.json" .pid)" "$(gojq -c '[.pid]' "$TMP/truths/uid.json")"
whole "$TMP/truths/uid.json"

note "comm and uid: both must hold"
record_around "$TMP/both.fxt" --uid $uid --comm nobody-at-all -- \
	setpriv --reuid=$uid --regid=$uid --clear-groups "$TMP/kymo-load" sleep 100 200
summarize "$TMP/both.fxt"
only '[]'

note "cgroup, with those below it"
if (need_cgroup2) >"$TMP/why"; then
	need_cgroup2
	group=$CGROUP2/kymo-test-$$
	mkdir -p "$group/below"
	# This takes a moment: a cgroup is busy until its last task no longer exists.
	at_exit bash -c "sleep 0.1; rmdir $group/below $group"
	record_around "$TMP/cgroup.fxt" --cgroup "$group" -- \
		bash -c 'echo $$ >"$1" && shift && exec "$@"' bash "$group/below/cgroup.procs" \
		"$KYMO_LOAD" --out "$TMP/truth.json" sleep 500 200
	summarize "$TMP/cgroup.fxt"
	dump_records "$TMP/cgroup.fxt"
	only "$(gojq -c '[.pid]' "$TMP/truth.json")"
	mapped "$TMP/cgroup.fxt" "$(json "$TMP/truth.json" .pid)" "$(gojq -c '[.pid]' "$TMP/truth.json")"
	whole "$TMP/truth.json"
else
	note "not tested: $(cat "$TMP/why")"
fi
kill $other
