#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A real recording, damaged in 204 ways, is repaired: no result has an error, and many have not even a
# warning (damage can turn an id into another one, which nobody can tell). Some are shown to Perfetto.

. "$(dirname "$0")/../lib.sh"
need_btf

export -f little_work last_cpu
export KYMO_LOAD
record_around "$TMP/real.fxt" -- bash -c little_work

silent=0
for seed in {1..204}; do
	how=$("$DAMAGE_TRACE" "$TMP/real.fxt" "$seed" "$TMP/variant")
	expect_exit 0 timeout 20 "$KYMO" repair --force "$TMP/variant" "$TMP/repaired"
	expect_exit 0 timeout 20 "$KYMO" check --json "$TMP/repaired"
	assert_eq "$(json "$TMP/stdout" .errors)" 0 "seed $seed ($how): errors"
	[ "$(json "$TMP/stdout" .warnings)" != 0 ] || silent=$((silent + 1))
	# (the ways take turns: each once)
	if [ -z "${KYMO_PERFETTO_SQL:-}" ] || [ $((seed % 12)) != $((seed / 12 % 12)) ]; then
		continue
	fi
	note "seed $seed: $how: Perfetto"
	# It takes them; what changed bits have made of a value is shown as it is.
	perfetto "$TMP/repaired" "select count(*) n from sched_slice" >"$TMP/answers"
	assert_ge "$(jq '.[0].n' "$TMP/answers")" 500 "seed $seed ($how): slices"
done
assert_ge $silent 60 "results of 204 without any warning"
