#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Samples of running threads, by name, stacks of threads off CPU, and mappings.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/words.sh"
need_btf
need_command nm

record_options=(-F 199)
: >"$TMP/chain"
# An emulated CPU misses timer interrupts when its host is busy, so a second has no fixed number of
# samples. The test records until it has enough of them.
for round in {1..8}; do
	capture profile "$STACK_LOAD" chain 1000
	pid=$(json "$TMP/truth.json" .pid)
	expect_exit 0 "$KYMO" flame --pid "$pid" --format folded --force -o "$TMP/chain.folded" "$ARCHIVE"
	# After an interrupt, its functions follow the leaf. (The C library's callers of main vary,
	# and so does the time for calibrating loops.)
	grep -v ';calibrate;' "$TMP/chain.folded" |
		sed -nE 's/^.*;(main;.*leaf_[abc])(;.*)? ([0-9]+)$/\3 \1/p' >>"$TMP/chain" || true
	samples=$(awk '{ n += $1 } END { print n + 0 }' "$TMP/chain")
	note "samples after $round s of CPU time: $samples"
	# The clock of the samples is the CPU time of the program, which limits their number.
	assert_le "$samples" $((round * 199 * 5 / 4)) "samples in $round s of CPU time"
	[ "$samples" -lt 60 ] || break
done
awk '{ n[$2] += $1; all += $1 } END { for (s in n) if (n[s] > all / 50) print "samples in", s }' "$TMP/chain" |
	sort | facts
fact_at_least samples "$samples" 60 "at least"
"$LIST_STACKS" "$ARCHIVE" | awk -v pid="$pid" '$1 == "mapping" && $3 == pid && $NF ~ "^/"' >"$TMP/mapped"
assert_ge "$(wc -l <"$TMP/mapped")" 1 "mappings of the program"
awk '{ print "mapped:", $NF }' "$TMP/mapped" | sort -u | sed "s|$KYMO_BUILD|BUILD|" | facts
build_id=$(readelf -n "$STACK_LOAD" | awk '/Build ID/ { print $3 }')
fact_at_least "build ids of the program" "$(awk -v program="$STACK_LOAD" -v id="${build_id:-none}" \
	'$NF == program && $(NF - 1) == id' "$TMP/mapped" | wc -l)" 1

# shellcheck disable=SC2034 # of capture
record_options=(--offcpu-min 5ms)
capture sched,offcpu "$STACK_LOAD" wait 20
"$LIST_STACKS" "$ARCHIVE" | grep '^offcpu' >"$TMP/stacks"
nm -S "$STACK_LOAD" | awk 'NF == 4 { print $1, $2, $4 }' | while read -r at size name; do
	printf '%016x %016x %s\n' "0x$at" "$((0x$at + 0x$size))" "$name"
done >"$TMP/functions"
main=$(json "$TMP/truth.json" .pid)
json "$TMP/truth.json" '.waits[] | "\(.name) \(.tid) \(.n)"' >"$TMP/waits"
assert_ge "$(wc -l <"$TMP/waits")" 1 "kinds of waits"
while read -r name tid n; do
	# (The first and the last can be in another place: a thread can be preempted before it
	# waits.) The number of sleeps in this function, whether the stack has a kernel part, and
	# the waker.
	awk -v tid="$tid" -v program="$STACK_LOAD+" -v main="$main" -v name="$name" -v n="$n" '
		NR == FNR { from[$3] = $1; to[$3] = $2; next }
		$4 != tid { next }
		{
			for (f = 8; f <= NF && $f ~ /^kernel:/; f++);
			at = substr($f, length(program) + 1)
			if (index($f, program) != 1 || at "" < from[name] "" || at "" > to[name] "" || $6 != "S")
				next
			found++
			kernel += f > 8
			by_main += $7 == main
			by_nobody += $7 == 0
		}
		END {
			n -= 2
			print "waits in " name ":", (found < n ? found : n), "asleep at least,",
				(kernel >= 0.75 * found ? "with" : "without"), "frames of the kernel, woken by",
				(by_main >= n - 1 ? "another" : by_nobody >= n - 1 ? "a timer" : "others")
		}' "$TMP/functions" "$TMP/stacks" | facts
done <"$TMP/waits"

sleep 1000 &
sleeper=$!
expect_soon 20 is_asleep "$sleeper"
expect_exit 0 "$KYMO" record --direct -e offcpu -p $sleeper -o "$TMP/waiting.fxt" -- sleep 0.5
kill $sleeper
expect_exit 0 "$LIST_STACKS" "$TMP/waiting.fxt"
fact "waiting before: $(grep -cE "^waiting [0-9]+ $sleeper .* [^ ]*/libc[^ ]*[+].* [^ ]*/sleep[+]" "$TMP/stdout") with the stack of the program"
