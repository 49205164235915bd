#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The checker of patterns must pass the tree as it is, and fail where a text is no pattern.

. "$(dirname "$0")/../lib.sh"

check=$ROOT/tests/style/check-patterns
expect_exit 0 "$check"
assert_empty "$TMP/stdout" "complaints about the tree"

mkdir "$TMP/tests"
# plant COMPLAINT LINE: a test with LINE must be complained about once
plant() {
	printf '%s\n' "$2" >"$TMP/tests/planted.sh"
	expect_exit 1 "$check" "$TMP"
	assert_says "$TMP/stdout" "tests/planted.sh:1: $1: " "complaint about $2"
	assert_eq "$(wc -l <"$TMP/stdout")" 1 "number of complaints about $2"
}
plant 'a dot that is any character' 'assert_contains "$TMP/out" "^a.fxt: .* events" "what it says"'
plant 'a dot that is any character' "assert_contains <(events mark) 'at 1.00% of it$' what"
plant 'a dot that is any character' "expect_soon 5 grep -q 'took 3.50% of' log"
plant 'a text for assert_says' "assert_contains out 'no such file' what"
plant 'a verdict that empty input passes' "kymo status --json x | gojq -e '.[0].lost.sched > 0'"
plant 'a verdict that empty input passes' "expect_soon 60 gojq -se 'length == 1' truth"
plant 'a verdict that empty input passes' "gojq -s -c --exit-status 'length == 1' truth"
plant 'a reader of a pipe that ends early' "kymo dump x.fxt | grep -q watch"
plant 'a reader of a pipe that ends early' "kymo dump x.fxt | grep -a -qF -- watch || fail"
plant 'a reader of a pipe that ends early' "kymo dump x.fxt | grep --quiet watch"
plant 'a reader of a pipe that ends early' "kymo dump x.fxt | LC_ALL=C grep -m 1 -q 'a b'"
for reader in 'head -n 1' head 'grep -m 1 a' 'grep -m1 a' 'grep -l a' 'sed 1q' "sed '/^$/q; s/a/b/'" \
	"sed -n '/a/{ p; q }'" 'sed -n -e 5q' "awk '/a/ { print; exit }'" "awk -v a=b 'NR == 3 { exit 1 } END { print }'"; do
	plant 'a reader of a pipe that ends early' "kymo dump x.fxt | $reader"
	plant 'a reader of a pipe that ends early' "a=\$(kymo dump x.fxt | sort | $reader | wc -l)"
done
printf '%s\n' "kymo dump x.fxt | awk '" '	/a/ { print; exit }' "' | wc -l" >"$TMP/tests/planted.sh"
expect_exit 1 "$check" "$TMP"
assert_says "$TMP/stdout" 'a reader of a pipe that ends early: ' "complaint about a script over lines"
printf '%s\n' "assert_contains out \\" "	'^a.fxt: ' what" >"$TMP/tests/planted.sh"
expect_exit 1 "$check" "$TMP"
assert_says "$TMP/stdout" 'tests/planted.sh:2: a dot that is any character: ' "complaint about two lines"
printf '%s\n' "kymo dump x.fxt |" '	grep -q watch' >"$TMP/tests/planted.sh"
expect_exit 1 "$check" "$TMP"
assert_says "$TMP/stdout" 'tests/planted.sh:2: a reader of a pipe that ends early: ' "complaint about a pipe over two lines"

# These only look like it.
cat >"$TMP/tests/planted.sh" <<-'END'
	# assert_contains out 'a.fxt' what
	assert_contains "$TMP/a.fxt" '^a\.fxt: .*, [0-9.]+ s$' "what it says of a.fxt"
	assert_contains <(cat a.txt) 'a|b' "b.txt"
	assert_says out 'a.fxt' what
	grep -qF 'a.fxt' b.fxt
	grep -q 'a\.fxt' "$TMP/b.fxt"
	[ -e x ] || grep -q watch x.txt
	kymo dump x.fxt | grep -F 'a -q b' >/dev/null
	kymo dump x.fxt | grep -F watch >/dev/null
	awk '/a/ { print; exit }' x.txt | sort
	head -n 1 x.txt || head -n 2 y.txt
	kymo dump x.fxt | awk '/a/ && !n++ { print "no exit" } END { exit bad }'
	kymo dump x.fxt | awk '
		/exits/ { exited = 1 } END { exit !exited }' || exit 1
	kymo dump x.fxt | sed -n '1,3p; s/a q/q/' | grep -e head
	kymo dump x.fxt | sed -n 's/^q //p'
	gojq -r --slurpfile second b.json '.end_ns' a.json
END
expect_exit 0 "$check" "$TMP"
assert_empty "$TMP/stdout" "complaints about what is right"

# Without tests the checker checks nothing, and must say so.
rm "$TMP/tests/planted.sh"
expect_exit 2 "$check" "$TMP"
