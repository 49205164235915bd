#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A question to a recording: who writes more than the block of memory has. It is found in the program
# that does so, with its numbers, and nothing in the one that does not.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command gcc
[ "$(uname -m)" = x86_64 ] || skip "calls are recorded on x86-64"
remember_bpf

cat >"$TMP/over.c" <<-'END'
	#include <stdlib.h>
	#include <string.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		char *buf = malloc(32);
		int wrong = argc > 1 && argv[1][0] == 'w';
		memset(buf, 'x', 32);
		for (int i = 0; i < 3; i++)
			if (write(1, buf + i, wrong ? 48 : 32 - i) < 0)
				return 1;
		free(buf);
		return 0;
	}
END
gcc -g -O1 -w -o "$TMP/over" "$TMP/over.c"

for how in right wrong; do
	note "a program that is $how"
	expect_exit 0 "$KYMO" record --direct -e memory,calls --memory-log -o "$TMP/$how.fxt" \
		--call 'libc.so.6:write(fd to, ptr buf, size_t count)' -- "$TMP/over" "$how"
	expect_exit 0 "$KYMO" query --keep-duplicates --json "$TMP/$how.fxt" '(> (v/value count) (v/size buf))'
	jq -c '[.function, .variables.count.value, .variables.buf.size]' "$TMP/stdout" >"$TMP/$how"
done
assert_empty "$TMP/right" "what is found in a program without a mistake"
diff - "$TMP/wrong" >&2 <<-END || fail "what was found (>) is not what the program does (<)"
	["write",48,32]
	["write",48,31]
	["write",48,30]
END

note "free variables range over those of their types"
expect_exit 0 "$KYMO" query --keep-duplicates --json --var p:pointer "$TMP/wrong.fxt" '(= (v/size p) 31)'
assert_eq "$(jq -r '.variables.p.name' "$TMP/stdout")" buf "the variable that it is"

note "the same of a file for other readers, in both layouts"
for layout in --force "--narrow --force"; do
	# shellcheck disable=SC2086 # several words
	expect_exit 0 "$KYMO" export --format tracedb $layout -o "$TMP/w.tdb" "$TMP/wrong.fxt"
	file=$(compgen -G "$TMP/w-*.tdb")
	expect_exit 0 "$KYMO" query --keep-duplicates --json "$file" '(> (v/value count) (v/size buf))'
	assert_eq "$(jq -c '[.variables.count.value, .variables.buf.size]' "$TMP/stdout" | tr '\n' ' ')" \
		"[48,32] [48,31] [48,30] " "$layout"
done
assert_says "$(compgen -G "$TMP/w-*.statements")" "write" "the function of the statement"

note "moments are points, too, with names, texts and lines"
line=$(grep -n 'if (write' "$TMP/over.c" | cut -d: -f1)
expect_exit 0 "$KYMO" record --direct -e memory,calls,call-stacks --memory-log -o "$TMP/both.fxt" --collect locals \
	--moment "$TMP/over:over.c:$line" --call 'libc.so.6:write(fd to, ptr buf, size_t count)' -- "$TMP/over" wrong
expect_exit 0 "$KYMO" query --keep-duplicates --json "$TMP/both.fxt" '(and (is (p/function) "write") (= (v/value count) 48))'
assert_eq "$(jq -r '"\(.caller) \(.source | sub(".*/"; "")):\(.line)"' "$TMP/stdout" | sort | uniq -c | tr -s ' ')" \
	" 3 main over.c:$line" "where write() is called"
expect_exit 0 "$KYMO" query --keep-duplicates --json "$TMP/both.fxt" \
	'(and (matches (p/function) "*over.c*") (> (v/value i) 0) (contains (v/text buf) "xxx"))'
assert_eq "$(jq -c '[.variables.i.value, .variables.buf.value]' "$TMP/stdout" | tr '\n' ' ')" \
	'[1,"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"] [2,"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"] ' "moments"

note "results as a trace"
expect_exit 0 "$KYMO" query --keep-duplicates -o "$TMP/some.tdb" "$TMP/both.fxt" '(> (v/value count) (v/size buf))'
expect_exit 0 "$KYMO" query --keep-duplicates --json "$TMP/some.tdb" ''
assert_eq "$(wc -l <"$TMP/stdout")" 3 "points in it"
expect_exit 0 "$KYMO" query --keep-duplicates --json "$TMP/some.tdb" '(= (v/size buf) 31)'
assert_eq "$(wc -l <"$TMP/stdout")" 1 "points with their sizes"
expect_exit 0 "$KYMO" export --format tracedb -o "$TMP/both.tdb" "$TMP/both.fxt"
awk -F'\t' '{ sub(/.*\//, "", $4); print $2, $3, $4, $5 }' "$(compgen -G "$TMP/both-*.statements")" >"$TMP/statements"
assert_says "$TMP/statements" "write main over.c $line" "the statement of the call"

note "sampled allocations have no sizes"
expect_exit 0 "$KYMO" record --direct -e memory,calls --memory-log --memory-interval 64K -o "$TMP/sampled.fxt" \
	--call 'libc.so.6:write(fd to, ptr buf, size_t count)' -- "$TMP/over" wrong
expect_exit 1 "$KYMO" query "$TMP/sampled.fxt" '(> (v/value count) (v/size buf))'
assert_says "$TMP/stderr" "only some allocations were recorded" "the reason"

note "expressions that are none"
expect_exit 2 "$KYMO" query "$TMP/wrong.fxt" '(> (v/value count) (and 1))'
assert_says "$TMP/stderr" "where a number is expected" "the reason"
no_bpf_left "recordings"
