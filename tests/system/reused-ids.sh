#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A reused id, in two recordings and in their merge, and the leaks of its owners. The test sets the
# next id of the kernel, for the whole machine.

. "$(dirname "$0")/../lib.sh"
need_btf
[ -w /proc/sys/kernel/ns_last_pid ] || skip "the next id cannot be set (/proc/sys/kernel/ns_last_pid)"

# owners PID FILE ...: prints the start times of all owners of the kernel's PID
owners() {
	local pid=$1 file

	for file in "${@:2}"; do
		summarize "$file"
		json "$SUMMARY" ".processes[] | select(.pid % 4194304 == $pid) | .start_ns"
	done | sort
}

# reuse PID MARK: starts a process with this id, unless other processes always get it first
cat >"$TMP/reuse.sh" <<-'END'
	for ((i = 0; i < 100; i++)); do
		echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid
		sleep 0.01 &
		[ $! != "$1" ] || { touch "$2" && break; }
	done
	wait
END
pid=$(bash -c 'echo $$')
for n in 1 2; do
	record_around "$TMP/owner$n.fxt" -- bash "$TMP/reuse.sh" "$pid" "$TMP/owned$n"
	[ -e "$TMP/owned$n" ] || skip "other processes were always quicker"
done
expect_exit 0 "$KYMO" merge "$TMP/owner1.fxt" "$TMP/owner2.fxt" "$TMP/owners.fxt"
check_results "$TMP"/{owner1,owner2,owners}.fxt
owners "$pid" "$TMP/owner1.fxt" "$TMP/owner2.fxt" >"$TMP/owners.each"
assert_le 2 "$(sort -u "$TMP/owners.each" | wc -l)" "owners of $pid"
owners "$pid" "$TMP/owners.fxt" | diff - "$TMP/owners.each" >&2 || fail "owners of $pid when merged"

note "an owner that is selected by its name only after its fork"
# select.sh PROGRAM MARK: a process executes PROGRAM and ends; the next owner of its id executes it
# later, unless other processes always get the id first.
cat >"$TMP/select.sh" <<-'END'
	"$1" 0.1 &
	pid=$!
	wait
	for ((i = 0; i < 100; i++)); do
		echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid
		bash -c 'sleep 0.1; exec "$0" 0.1' "$1" &
		[ $! != $pid ] || { echo $pid >"$2" && break; }
	done
	wait
END
cp "$(type -P sleep)" "$TMP/chosen"
expect_recorded "$TMP/selected.fxt" "$KYMO" record --direct -e sched --comm chosen -o "$TMP/selected.fxt" -- \
	bash "$TMP/select.sh" "$TMP/chosen" "$TMP/selected"
if [ -s "$TMP/selected" ]; then
	owners "$(cat "$TMP/selected")" "$TMP/selected.fxt" >"$TMP/owners.selected"
	assert_eq "$(sort -u "$TMP/owners.selected" | wc -l)" 2 "owners of an id, of which both were selected by name"
fi

note "the leaks of each owner of an id"
# leak.sh N PROGRAM PART PROGRAM PART: N processes with the same id, one after the other, of two
# programs in turn. The last two wait for a moment, in which they can be watched.
cat >"$TMP/leak.sh" <<-'END'
	first=0
	for ((i = 0; i < $1; i++)); do
		[ "$first" = 0 ] || echo $((first - 1)) >/proc/sys/kernel/ns_last_pid
		program=$((2 + 2 * (i % 2))) part=$((3 + 2 * (i % 2)))
		if ((i < $1 - 2)); then
			"${!program}" "${!part}" >/dev/null &
		else
			"${!program}" --held "${!part}" >/dev/null < <(sleep 0.5 && echo) &
		fi
		[ "$first" != 0 ] || first=$!
		wait
	done
END
cp "$LEAK_PROGRAMS/leak-plant-frames" "$TMP/other-plant"
# check_owners: for each owner, the leaks are known, or are reported as unknown.
check_owners() {
	gojq -r '.processes[] | select(.reason != "exec" and (.process | IN("leak-plant-fram", "other-plant"))) |
		"\(.complete) \(.leaks | length > 0)"' "$TMP/leaks.json" | sort | uniq -c >"$TMP/leaks.kinds"
	assert_empty <(grep 'true false' "$TMP/leaks.kinds" || true) "owners of which all is known and nothing was found"
	assert_eq "$(awk '{ n += $1 } END { print n }' "$TMP/leaks.kinds")" 24 "owners with a report"
}
# both_found: records, and lists the leaks. Whether leaks of both programs were found.
both_found() {
	expect_exit 0 "$KYMO" leaks --direct -e memory --force -o "$TMP/leaks.fxt" -- \
		bash "$TMP/leak.sh" 24 "$LEAK_PROGRAMS/leak-plant-frames" list "$TMP/other-plant" buffers
	"$KYMO" leaks --json --allow-unwatched "$TMP/leaks.fxt" >"$TMP/leaks.json" 2>/dev/null
	check_owners
	holds "$TMP/leaks.json" '[.processes[] | select(.leaks | length > 0) | .process] |
		contains(["leak-plant-fram", "other-plant"])'
}
# (on a busy machine, the last two can also end too early)
for _ in {1..4}; do
	! both_found || break
done
# The leaks of each program are reported below it.
gojq -r '.processes[] | select(.reason != "exec") | .process as $process | .leaks[] |
	[.frames[].function] as $frames |
	(("plant_list", "plant_buffers") | select(IN($frames[]))) |
	"\($process) \(.)"' "$TMP/leaks.json" | sort -u >"$TMP/leaks.owners"
printf '%s\n' "leak-plant-fram plant_list" "other-plant plant_buffers" | diff - "$TMP/leaks.owners" >&2 ||
	fail "leaks of other programs (>)"
