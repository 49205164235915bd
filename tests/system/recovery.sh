#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A real recording, damaged in 204 ways (bytes and bits changed, ranges zeroed, overwritten,
# doubled, removed, inserted, records swapped, headers changed, cut in the middle and at the end):
# of the records that were not damaged, the number that are read, in each of the variants. Then the
# same recording compressed.

. "$(dirname "$0")/../lib.sh"
need_btf

export -f little_work last_cpu
export KYMO_LOAD
# (what other processes do would make the archives many times larger)
ours=(-p $$)
record_around "$TMP/real.fxt" "${ours[@]}" -- bash -c little_work
bytes=$(stat -c %s "$TMP/real.fxt")
assert_ge "$bytes" 200000 "bytes recorded"
"$CHECK_RECOVERY" "$TMP/real.fxt" 204 995 || fail "records that were not touched did not come back"

# Reading from a pipe and from a file gives the same result.
for seed in {1..12}; do
	note "$("$DAMAGE_TRACE" "$TMP/real.fxt" "$seed" "$TMP/variant")"
	expect_checked "$TMP/variant"
	cp "$TMP/stdout" "$TMP/from-file"
	status=0
	timeout "$(limit 20)" "$KYMO" check --json - < <(cat "$TMP/variant") >"$TMP/from-pipe" || status=$?
	assert_eq "$status" "$exit_status" "seed $seed: exit status of check of a pipe"
	cmp "$TMP/from-file" "$TMP/from-pipe" || fail "seed $seed: a pipe gives something else"
done

# what_damage_ends_in METHOD: prints the exit status of check. A Snappy chunk has no checksum, so
# changed bytes in a value of a record can also be valid.
what_damage_ends_in() {
	[ "$1" != snappy ] || echo -n '0|'
	echo 3
}

# In a compressed archive, only the damaged pieces are lost, and the begin of each other piece is
# found.
records=$("$KYMO" check --json "$TMP/real.fxt" | gojq .records)
for method in snappy zstd gzip columns; do
	record_around "$TMP/packed.$method" "${ours[@]}" -e sched --compress=$method --flush 50ms -- \
		bash -c "little_work 800; little_work 800; little_work 800"
	# (gojq takes longer to start than kymo check: so it reads all results at once)
	: >"$TMP/checks"
	: >"$TMP/statuses"
	for seed in {1..36}; do
		"$DAMAGE_TRACE" "$TMP/packed.$method" "$seed" "$TMP/variant" >"$TMP/how"
		expect_exit "0|1|3" timeout "$(limit 20)" "$KYMO" check --json "$TMP/variant"
		if [ "$exit_status" = 1 ]; then
			assert_contains "$TMP/stderr" 'magic number|cannot decompress' "why nothing is read"
		else
			cat "$TMP/stdout" >>"$TMP/checks"
			echo "$exit_status" >>"$TMP/statuses"
		fi
	done
	json "$TMP/checks" "$CHECK_STATUS" --argjson strict false | diff "$TMP/statuses" - >&2 ||
		fail "$method: exit statuses of check (<) are not what it says (>)"
	assert_ge "$(wc -l <"$TMP/statuses")" 18 "$method: variants that were checked"
	# Four bytes in the middle.
	half=$(($(stat -c %s "$TMP/packed.$method") / 2))
	{
		head -c $half "$TMP/packed.$method"
		printf '\377\377\377\377'
		tail -c +$((half + 5)) "$TMP/packed.$method"
	} >"$TMP/variant"
	all=$("$KYMO" check --json "$TMP/packed.$method" | gojq .records)
	expect_exit "$(what_damage_ends_in $method)" "$KYMO" check --json "$TMP/variant"
	assert_ge "$(json "$TMP/stdout" .records)" $((all / 4)) "$method: records of $all behind damage"
	assert_eq "$(json "$TMP/stdout" .cut_off)" false "$method: is its end there?"
done
assert_ge "$records" 4000 "records"

# Large pieces: the next piece is found, wherever the damage is.
for method in snappy zstd gzip columns; do
	record_around "$TMP/large.$method" "${ours[@]}" -e sched --compress=$method -- "$KYMO_LOAD" --cpu "$(last_cpu)" pingpong 10000
	all=$("$KYMO" check --json "$TMP/large.$method" | gojq .records)
	bytes=$(stat -c %s "$TMP/large.$method")
	for percent in 20 35 50; do
		cp "$TMP/large.$method" "$TMP/variant"
		printf '\377\377\377\377' | dd of="$TMP/variant" bs=1 seek=$((bytes * percent / 100)) conv=notrunc status=none
		expect_exit "$(what_damage_ends_in $method)" "$KYMO" check --json "$TMP/variant"
		assert_eq "$(json "$TMP/stdout" .cut_off)" false "$method, damage at $percent%: is its end there?"
		assert_le "$(json "$TMP/stdout" .records)" "$all" "$method, damage at $percent%: records of $all"
	done
done
