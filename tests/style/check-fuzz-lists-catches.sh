#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/style/check-fuzz-lists finds a file that a fuzz target needs, directly or for another file.

. "$(dirname "$0")/../lib.sh"
check=$ROOT/tests/style/check-fuzz-lists

expect_exit 0 "$check" "$ROOT" "$KYMO_BUILD"
assert_empty "$TMP/stdout" "complaints about the tree"

mkdir -p "$TMP/tree/tests/fuzz"
cp "$ROOT"/tests/fuzz/*.c "$TMP/tree/tests/fuzz"
# refuses ROOM FILE: FILE may not be in the list of ROOM
refuses() {
	local room

	for room in capture model; do
		mkdir -p "$TMP/tree/$room"
		cp "$ROOT/$room/meson.build" "$TMP/tree/$room"
	done
	sed -i "/_not_fuzzed = /a \\        '$2'," "$TMP/tree/$1/meson.build"
	expect_exit 1 "$check" "$TMP/tree" "$KYMO_BUILD"
	assert_says "$TMP/stdout" "$1/$2: fuzz-" "the complaint about $1/$2"
}
refuses capture programs/decode.c
refuses model moments/moment-plan.c
# (which capture/calls/call-spec.c needs)
refuses model calls/call-structs.c

expect_exit 2 "$check" "$TMP/tree/tests" "$KYMO_BUILD"
expect_exit 2 "$check" "$ROOT" "$TMP"
