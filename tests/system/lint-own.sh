#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings of kymo pass its own lint, without errors and warnings: a busy machine, filters,
# losses, packed archives.

. "$(dirname "$0")/../lib.sh"
need_btf

cat >"$TMP/load.sh" <<-END
	"$KYMO_LOAD" --out "$TMP/wakeups.json" wakeups futex 20000 &
	"$KYMO_LOAD" --out "$TMP/pipe.json" wakeups pipe 20000 &
	"$KYMO_LOAD" --out "$TMP/pingpong.json" pingpong 20000 &
	"$KYMO_LOAD" --out "$TMP/procs.json" procs 500 &
	"$KYMO_LOAD" --out "$TMP/rename.json" rename 100
	"$KYMO_LOAD" --out "$TMP/threadexec.json" threadexec
	"$KYMO_LOAD" --out "$TMP/reuse.json" reuse 3
	wait
END

# passes_lint ARCHIVE WHAT: checks that the lint finds nothing, except effects of a machine that
# stopped while a record was written.
passes_lint() {
	expect_checked "$1" --strict
	assert_eq "$(json "$TMP/stdout" '[.kinds[] | select(.id != "sched-unsorted")]')" "[]" "findings: $2"
}

# recording_is_clean WHAT [record option ...]
recording_is_clean() {
	local what=$1 archive=$TMP/t.fxt

	shift
	expect_exit 0 "$KYMO" record --direct --force -o "$archive" "$@" -- bash "$TMP/load.sh"
	passes_lint "$archive" "$what"
	note "$what: $(json "$TMP/stdout" '"\(.records) records, \(.notes) notes, \(.not_judged) not judged"')"
	assert_eq "$(json "$TMP/stdout" .good_records)" "$(json "$TMP/stdout" .records)" "good records"
}

recording_is_clean "all"
recording_is_clean "packed" --compress
recording_is_clean "one command" --comm kymo-load
recording_is_clean "one process" -p $$

# Also with lost records.
expect_exit 0 "$KYMO" record --direct --force -o "$TMP/t.fxt" -b 64K -- bash "$TMP/load.sh"
passes_lint "$TMP/t.fxt" "a small ring"
summarize "$TMP/t.fxt"
note "a small ring: $(lost_total) lost"
