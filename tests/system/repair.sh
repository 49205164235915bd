#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A real recording, damaged in 204 ways, is repaired: no result has an error, and check --strict
# accepts nearly all. (Damage can turn an id into another valid one, which cannot be detected.)
# Perfetto reads some of the results. A wrong bit in the head, on which all records depend, changes
# no time.

. "$(dirname "$0")/../lib.sh"
need_btf

export -f little_work last_cpu
export KYMO_LOAD
# (what other processes do would make it many times larger)
record_around "$TMP/real.fxt" -p $$ -- bash -c "little_work 800"

# (gojq takes longer to start than kymo repair: so it reads all results at once)
hows=()
shown=()
questions=()
strict=0
: >"$TMP/checks"
for seed in {1..204}; do
	how=$("$DAMAGE_TRACE" "$TMP/real.fxt" "$seed" "$TMP/variant")
	expect_exit 0 timeout "$(limit 20)" "$KYMO" repair --force "$TMP/variant" "$TMP/repaired"
	expect_exit 0 timeout "$(limit 20)" "$KYMO" check --json "$TMP/repaired"
	cat "$TMP/stdout" >>"$TMP/checks"
	if timeout "$(limit 20)" "$KYMO" check --strict "$TMP/repaired" >"$TMP/strict"; then
		strict=$((strict + 1))
	else
		note "seed $seed: $how: $(grep '^warning' "$TMP/strict")"
	fi
	hows+=("$how")
	# (each kind of damage once, in turn)
	if [ -z "${KYMO_PERFETTO_SQL:-}" ] || [ "$seed" -ge 144 ] || [ $((seed % 12)) != $((seed / 12)) ]; then
		continue
	fi
	note "seed $seed: $how: Perfetto"
	mv "$TMP/repaired" "$TMP/repaired.$seed"
	shown+=("$seed")
	questions+=(-- "$TMP/repaired.$seed" "select count(*) n from sched_slice")
done
silent=0
seed=0
while read -r errors warnings; do
	seed=$((seed + 1))
	assert_eq "$errors" 0 "seed $seed (${hows[seed - 1]}): errors"
	[ "$warnings" != 0 ] || silent=$((silent + 1))
done < <(json "$TMP/checks" '"\(.errors) \(.warnings)"')
assert_eq $seed 204 "results that were checked"
assert_ge $silent 60 "results of 204 without any warning"
# (a wrong bit in an id that leaves no other trace is no damage for repair)
assert_ge $strict 190 "results of 204 that check --strict accepts"

# In the magic number, the name of the provider, the ticks per second, and the first two strings.
[ ${#shown[@]} -gt 0 ] || exit 0
slices="select count(*) n, sum(dur) ns, min(ts) since from sched_slice where dur > 0"
heads=(-- "$TMP/real.fxt" "$slices")
for at in 3 17 40 43 45 57 58 81; do
	cp "$TMP/real.fxt" "$TMP/variant"
	byte=$(od -An -tu1 -j $at -N 1 "$TMP/variant")
	printf '%b' "\\x$(printf '%x' $((byte ^ 4)))" |
		dd of="$TMP/variant" bs=1 seek=$at conv=notrunc status=none
	expect_exit 0 timeout "$(limit 20)" "$KYMO" repair --force "$TMP/variant" "$TMP/head.$at"
	heads+=(-- "$TMP/head.$at" "$slices")
done
perfetto "${heads[@]:1}" | uniq >"$TMP/answers"
assert_eq "$(wc -l <"$TMP/answers")" 1 "different slices after one wrong bit in the head"
assert_ge "$(json "$TMP/answers" '.[0].n')" 500 "slices after one wrong bit in the head"

perfetto "${questions[@]:1}" >"$TMP/answers"
for seed in "${shown[@]}"; do
	read -r answer || fail "Perfetto does not answer about seed $seed"
	assert_ge "$(gojq '.[0].n' <<<"$answer")" 500 "seed $seed: slices"
done <"$TMP/answers"
