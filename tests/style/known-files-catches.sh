#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A file is checked again if it has changed, if the checker has, or if it was wrong.

. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/style/known-files.sh"
export XDG_CACHE_HOME=$TMP/cache

# A checker: it prints the names of the files that it reads, and finds the word "wrong".
cat >"$TMP/checker" <<-'END'
	#!/bin/bash
	mapfile -t -d '' files
	[ ${#files[@]} != 0 ] || exit 0
	basename -a "${files[@]}"
	! grep -q wrong "${files[@]}"
END
chmod 755 "$TMP/checker"

# check STATUS KEY NAME ...: all files are shown to the checker, and those NAMEs are read
check() {
	local status=0 expected=$1 key=$2

	shift 2
	printf '%s\0' "$TMP"/files/* | check_unknown test "$key" "$TMP/checker" >"$TMP/read" || status=$?
	assert_eq "$status" "$expected" "status of the check"
	assert_eq "$(xargs <"$TMP/read")" "$*" "files that were checked"
}

mkdir "$TMP/files"
echo a >"$TMP/files/a"
echo b >"$TMP/files/b b"
check 0 1 a b b
check 0 1
echo changed >"$TMP/files/b b"
check 0 1 b b
check 0 2 a b b
echo wrong >"$TMP/files/a"
check 1 1 a
check 1 1 a
echo a >"$TMP/files/a"
check 0 1
cp "$TMP/files/a" "$TMP/files/c"
check 0 1
# (without a place for it, all are checked)
XDG_CACHE_HOME=/proc check 0 1 a b b c 2>/dev/null
