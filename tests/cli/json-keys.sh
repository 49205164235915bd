#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The keys that docs/COMPATIBILITY.md promises of JSON are there, in each archive of the golden
# ones.

. "$(dirname "$0")/../lib.sh"
need_command gojq

for file in events profile empty-session; do
	file=$ROOT/tests/golden/fxt/$file.fxt
	for verb in summary "summary --by" check leaks dump; do
		words=("${verb% --by}" --json "$file")
		[[ $verb != *--by ]] || words+=(--by unit)
		case "$verb $file" in
		leaks*/events.fxt | summary*/events.fxt) status=3 ;; # it says that records were lost
		leaks*) status=1 ;;                                  # of which nothing was recorded
		*) status=0 ;;
		esac
		expect_exit $status "$KYMO" "${words[@]}"
		[ $status = 1 ] || assert_documented "$verb" "$TMP/stdout"
	done
done
expect_exit 0 "$KYMO" latency --json "$ROOT/tests/golden/fxt/profile.fxt"
assert_documented latency "$TMP/stdout"
expect_exit 0 "$KYMO" diff --json "$ROOT/tests/golden/fxt/profile.fxt" "$ROOT/tests/golden/fxt/profile.fxt"
assert_documented diff "$TMP/stdout"
