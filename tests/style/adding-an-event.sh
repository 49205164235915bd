#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A row that is added to the table of events and not to docs/FXT-MAPPING.md is told, and the other
# way round; so is an argument, its type, and the thread, and a counter. What follows from a row is in
# tests/unit/test-added-event.c.

. "$(dirname "$0")/../lib.sh"

copy=$TMP/tree
mkdir -p "$copy/docs" "$copy/capture/proc"
cp -r "$ROOT/base" "$ROOT/model" "$ROOT/writer" "$copy"
cp "$ROOT/docs/FXT-MAPPING.md" "$copy/docs"
cp "$ROOT/capture/proc/counters.c" "$copy/capture/proc"
check=$ROOT/tests/style/check-mapping

expect_exit 0 "$check" "$copy"
assert_empty "$TMP/stdout" "complaints about the tree"

# expect_told FILE COMPLAINT ...
expect_told() {
	expect_exit 1 "$check" "$copy"
	for complaint; do
		assert_says "$TMP/stdout" "$complaint" "complaint"
	done
	assert_eq "$(wc -l <"$TMP/stdout")" $# "number of complaints"
}

# The row; its words are in fxt-names.h already.
rows=$copy/writer/fxt/fxt-event-rows.h
row='ALSO(DOOR, EVENT_MARK, KYMO, PATH, INSTANT, KYMO, FIELD(STATE, TEXT, mark.text, NEEDED))'
sed -i "s/^EVENT(MARK,/$row\n&/" "$rows"
expect_told 'FXT-MAPPING.md: lacks "kymo:path kymo"' \
	'FXT-MAPPING.md: lacks "kymo:path kymo state string"'

page=$copy/docs/FXT-MAPPING.md
sed -i 's/^| `kymo` | `mark` |.*/&\n| `kymo` | `path` | kymo | `state` string |/' "$page"
expect_exit 0 "$check" "$copy"

sed -i 's/| `path` | kymo | `state` string/| `path` | Code | `state` string/' "$page"
expect_told 'lacks "kymo:path kymo"' 'lacks "kymo:path kymo state string"' \
	'rows.h: lacks "kymo:path code"' 'rows.h: lacks "kymo:path code state string"'
sed -i 's/| `path` | Code | `state` string/| `path` | kymo | `state` uint64/' "$page"
expect_told 'lacks "kymo:path kymo state string"' 'rows.h: lacks "kymo:path kymo state uint64"'
sed -i '/| `path` | kymo/d; s/`from_cpu` uint32, //' "$page"
expect_told 'lacks "kymo:path kymo"' 'lacks "kymo:path kymo state string"' \
	'lacks "sched:migrate own from_cpu uint32"' 'says nothing of `from_cpu`'

cp "$ROOT/docs/FXT-MAPPING.md" "$copy/docs"
cp "$ROOT/writer/fxt/fxt-event-rows.h" "$rows"
sed -i 's/"runnable"/"running"/' "$copy/capture/proc/counters.c"
expect_told 'FXT-MAPPING.md: lacks the counter "running"' 'counters.c: lacks the counter "runnable"'
