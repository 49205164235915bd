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

# A file that cannot be read is not correct, also if the caller tests the status. Nothing is left.
mkdir "$TMP/work"
status=0
printf '%s\0' "$TMP"/files/{a,missing} |
	TMPDIR=$TMP/work check_unknown test 1 cat >"$TMP/read" 2>"$TMP/stderr" && status=1
assert_eq $status 0 "status 0 of a check of a missing file"
assert_contains "$TMP/stderr" missing "complaint about a missing file"
assert_eq "$(ls "$TMP/work")" "" "files that are left"
# (as if there was no room for the sums)
printf '%s\0' "$TMP/files/a" >"$TMP/paths"
known_files_sum "$TMP/paths" /dev/null 2>/dev/null && fail "missing sums are not noticed"

# A file that changes while it is checked is checked again, with either of its contents.
echo right >"$TMP/files/a"
cat >"$TMP/editor" <<-END
	#!/bin/bash
	cat >/dev/null
	echo "also wrong" >"$TMP/files/a"
END
chmod 755 "$TMP/editor"
printf '%s\0' "$TMP"/files/* | check_unknown test 3 "$TMP/editor"
check 1 3 a
printf '%s\0' "$TMP"/files/* | check_unknown test 4 true
echo wrong again >"$TMP/files/a"
printf '%s\0' "$TMP"/files/* | check_unknown test 5 bash -c "cat >/dev/null; echo right >'$TMP/files/a'"
echo wrong again >"$TMP/files/a"
check 1 5 a

# Without a home, all files are checked.
(
	unset HOME XDG_CACHE_HOME
	set -u
	echo right >"$TMP/files/a"
	check 0 5 a b b c
	check 0 5 a b b c
)
