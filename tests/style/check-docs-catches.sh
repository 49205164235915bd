#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The checker of documentation must pass the tree as it is, and fail on each kind of error.

. "$(dirname "$0")/../lib.sh"

check=$ROOT/tests/style/check-docs
copy=$TMP/tree
mkdir "$copy"
(cd "$ROOT" && tar cf - docs README.md HACKING.md base) | tar xf - -C "$copy"

expect_exit 0 "$check" "$copy"
assert_empty "$TMP/stdout" "complaints about the tree"

# plant FILE COMPLAINT LINE ...: FILE with the lines at its end must be complained about once.
plant() {
	local file=$copy/$1 complaint=$2

	shift 2
	[ ! -f "$file" ] || cp "$file" "$TMP/saved"
	printf '%s\n' "$@" >>"$file"
	expect_exit 1 "$check" "$copy"
	assert_says "$TMP/stdout" "$complaint" "complaint about $1"
	assert_eq "$(wc -l <"$TMP/stdout")" 1 "number of complaints about $1"
	rm "$file"
	[ ! -f "$TMP/saved" ] || mv "$TMP/saved" "$file"
}

plant docs/architecture/planted.md 'no table row for docs/architecture/planted.md' '# Planted'
plant docs/ARCHITECTURE.md 'at most 200 are allowed' "$(seq 200)"
plant docs/COMPATIBILITY.md 'link to a missing file: nothing.md' 'See [nothing](nothing.md).'
plant docs/COMPATIBILITY.md 'missing section: ARCHITECTURE.md#nothing' '[a](ARCHITECTURE.md#nothing)'
plant docs/COMPATIBILITY.md 'missing section: #nothing' '[here](#nothing)'
plant docs/architecture/layers.md 'missing file: chunk.md' 'Two: [a](chunks.md), [b](chunk.md)'
plant README.md 'missing page: docs/NOTHING.md' 'See docs/NOTHING.md.'
plant base/planted.c 'missing page: docs/architecture/nothing.md' '/* docs/architecture/nothing.md */'
plant base/planted.c 'section: docs/architecture/chunks.md, "No such"' \
	'/* docs/architecture/chunks.md, "No such" */'
plant base/planted.c 'base/planted.c:2: reference to a missing section: docs/architecture/chunks.md, "No such"' \
	'/*' ' * docs/architecture/chunks.md, "No' ' * such" */'
plant base/planted.c 'section: docs/architecture/chunks.md, "No such"' \
	'# docs/architecture/chunks.md,' '# "No such"'

# These are right.
cat >"$copy/base/planted.c" <<-'END'
	/*
	 * docs/architecture/chunks.md, "Flight
	 * recorder", and docs/architecture/layers.md
	 */
END
printf '\n[a](architecture/chunks.md#flight-recorder) `[b](nothing.md)`\n\n    [c](nothing.md)\n' \
	>>"$copy/docs/COMPATIBILITY.md"
expect_exit 0 "$check" "$copy"

# Without pages the checker checks nothing, and must say so.
rm -r "$copy/docs/architecture"
expect_exit 2 "$check" "$copy"
