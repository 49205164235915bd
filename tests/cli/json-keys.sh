#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The keys that docs/COMPATIBILITY.md promises of JSON are there, in each archive of the golden ones.

. "$(dirname "$0")/../lib.sh"
need_command jq

for file in events profile empty-session; do
	file=$ROOT/tests/golden/fxt/$file.fxt
	for verb in summary "summary --by" check leaks dump; do
		words=("${verb% --by}" --json "$file")
		[[ $verb != *--by ]] || words+=(--by unit)
		expect_exit "0|1|3" "$KYMO" "${words[@]}"
		[ "$exit_status" != 1 ] || [ "$verb" = leaks ] || fail "kymo ${words[*]} failed"
		[ ! -s "$TMP/stdout" ] || assert_documented "$verb" "$TMP/stdout"
	done
done
expect_exit "0|3" "$KYMO" diff --json "$ROOT/tests/golden/fxt/profile.fxt" "$ROOT/tests/golden/fxt/profile.fxt"
assert_documented diff "$TMP/stdout"
