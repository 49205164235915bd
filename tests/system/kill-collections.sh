#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kill-collections.sh [KILLS]: the service is killed at random moments while one collection records
# chunks and another one is a flight recorder. All data that had reached a file or the recorder's
# memory is in a readable file. Both collections run again each time. Nothing is left in the kernel,
# and no half-written file.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../support/collect-words.sh"
need_btf
need_bus

kills=${1:-3}
start_service_bus
remember_bpf
profile rotating <<-END
	[Collection]
	Categories=sched
	FlushInterval=100ms
	[Filter]
	Comm=kymo-load
	[Output]
	Directory=$TMP/out
	RotateTime=1s
	KeepSize=infinity
END
profile blackbox <<-END
	[Collection]
	Categories=sched
	Mode=flight
	FlushInterval=100ms
	[Filter]
	Comm=kymo-load
	[Flight]
	# (so long that no moment is dropped before the kill, also on a slow machine)
	Keep=1min
	[Output]
	Directory=$TMP/out
END

# A constant load.
"$KYMO_LOAD" sleep 10000000 500 &
napper=$!
for name in rotating blackbox; do
	start_collect "$name"
done

service_runs() {
	local pid

	pid=$(cat "$TMP/kymod.pid") && [ "$(cat "/proc/$pid/comm")" = kymod ] && grep -qzsx "KYMO_TEST_RUN=$KYMO_TEST_RUN" "/proc/$pid/environ"
}
# can_mark NAME NUMBER: whether the session accepts a mark, and so has begun to record
can_mark() {
	"$KYMO" mark "$1" "moment $2 of $1." --bus "$BUS" 2>"$TMP/mark.log"
}
# A chunk that has just been completed counts, too.
has_flushed() {
	mark_is_in "$TMP/out" "moment $1 of rotating." && mark_is_in "$TMP/run/flight" "moment $1 of blackbox."
}
both_run() {
	running rotating && running blackbox
}

# Each third kill comes when the service has just started. Before the others, there is a moment that
# must not be lost.
moments=()
for ((i = 1; i <= kills; i++)); do
	expect_soon 30 service_runs
	if [ $((i % 3)) != 2 ]; then
		for name in rotating blackbox; do
			expect_soon 60 can_mark "$name" "$i"
		done
		expect_soon 20 has_flushed "$i"
		moments+=("$i")
	fi
	sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
	end_kymod KILL
done
expect_soon 60 both_run
for name in rotating blackbox; do
	is_gone "${COLLECT[$name]}" && fail "kymo collect $name has ended: $(cat "$TMP/$name.log")"
done
# The data of the last service is written while the new sessions run.
saved_last() {
	mark_is_in "$TMP/out" "moment ${moments[-1]} of blackbox."
}
expect_soon 30 saved_last
for name in rotating blackbox; do
	end_collect "$name"
done
kill "$napper"
has_no_sessions || fail "sessions are left: $("$KYMO" list --bus "$BUS")"
end_kymod TERM
no_bpf_left "$kills times kill -9"
no_part || fail "chunks that were not completed: $(find "$TMP/out" -name '.*.part')"
assert_empty <(find "$TMP/run/flight" -mindepth 1) "the remains of flight recorders"

for name in rotating blackbox; do
	n_cut=0
	: >"$TMP/$name.marks"
	while read -r file; do
		expect_checked "$file"
		holds "$TMP/stdout" '.errors == (if .truncated then 1 else 0 end) and (.cut_off or .errors == 0)' ||
			fail "$file: errors other than a cut tail: $(cat "$TMP/stdout")"
		n_cut=$((n_cut + $(json "$TMP/stdout" 'if .cut_off then 1 else 0 end')))
		# (3: the archive is truncated)
		{ "$KYMO" dump "$file" 2>/dev/null || [ $? = 3 ]; } | sed -n 's/.* event kymo:mark .* text="\(.*\)\."$/\1/p' >>"$TMP/$name.marks"
	done < <(chunks "$name")
	note "$name: $(n_chunks "$name") files, $n_cut of them cut off"
	assert_le "$n_cut" "$kills" "$name: files without an end"
	for i in "${moments[@]}"; do
		grep -qxF "moment $i of $name" "$TMP/$name.marks" || fail "$name: what was marked before kill $i has been lost"
	done
done
# (snapshots can contain the same moments, but chunks cannot)
assert_eq "$(sort "$TMP/rotating.marks" | uniq -d)" "" "marks that are in two chunks"
