#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Queries find calls that write more bytes than the block has, and uses of freed blocks. They find
# them in a program that has these errors, with values and lines, and find nothing in the corrected
# program.

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

line=$(grep -n 'if (write' "$TMP/over.c" | cut -d: -f1)
for how in right wrong; do
	note "a program that is $how"
	expect_exit 0 "$KYMO" record --direct -e memory,calls,call-stacks --memory-log -o "$TMP/$how.fxt" \
		--call 'libc.so.6:write(fd to, ptr buf, size_t count)' -- "$TMP/over" "$how"
	expect_exit 0 "$KYMO" query --keep-duplicates --json "$TMP/$how.fxt" '(> (v/value count) (v/size buf))'
	gojq -c '[.function, .line, .variables.count.value, .variables.buf.size]' "$TMP/stdout" >"$TMP/$how"
done
assert_empty "$TMP/right" "results in a program without a mistake"
diff - "$TMP/wrong" >&2 <<-END || fail "the results (>) differ from the mistakes of the program (<)"
	["write",$line,48,32]
	["write",$line,48,31]
	["write",$line,48,30]
END
"$KYMO" query "$TMP/wrong.fxt" '(> (v/value count) (v/size buf))' >"$TMP/said"
assert_says "$TMP/said" "over.c:$line: count = 48, buf = 0x"
"$KYMO" query - '(> (v/value count) (v/size buf))' <"$TMP/wrong.fxt" >"$TMP/piped"
cmp "$TMP/said" "$TMP/piped" || fail "standard input is not read as the file is"

note "free variables range over those of their types"
expect_exit 0 "$KYMO" query --keep-duplicates --json --var p:pointer "$TMP/wrong.fxt" '(= (v/size p) 31)'
assert_eq "$(gojq -r '.variables.p.name' "$TMP/stdout")" buf "the variable that it is"

note "the same of a file for other readers, in both layouts"
for layout in --force "--narrow --force"; do
	# shellcheck disable=SC2086 # several words
	expect_exit 0 "$KYMO" export --format tracedb $layout -o "$TMP/w.tdb" "$TMP/wrong.fxt"
	file=$(compgen -G "$TMP/w-*.tdb")
	expect_exit 0 "$KYMO" query --keep-duplicates --json "$file" '(> (v/value count) (v/size buf))'
	assert_eq "$(gojq -c '[.variables.count.value, .variables.buf.size]' "$TMP/stdout" | tr '\n' ' ')" \
		"[48,32] [48,31] [48,30] " "$layout"
	# (by the table of statements beside the file)
	assert_eq "$(gojq -c '[.function, .caller, (.source | sub(".*/"; "")), .line]' "$TMP/stdout" | sort -u)" \
		"[\"write\",\"main\",\"over.c\",$line]" "$layout: the statement"
done
assert_says "$(compgen -G "$TMP/w-*.statements")" "write" "the function of the statement"

note "two points in one query: a write from a block that was freed, with where it was allocated"
cat >"$TMP/after.c" <<-'END'
	#include <stdlib.h>
	#include <string.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		int wrong = argc > 1 && argv[1][0] == 'w';
		char *other = malloc(80);
		char *buf = malloc(40);
		memset(buf, 'x', 40);
		if (wrong)
			free(buf);
		write(1, buf, 8);
		if (!wrong)
			free(buf);
		free(other);
		return 0;
	}
END
gcc -g -O0 -w -o "$TMP/after" "$TMP/after.c"
for how in right wrong; do
	expect_exit 0 "$KYMO" record --direct -e memory,calls,call-stacks --memory-log -o "$TMP/after-$how.fxt" \
		--call 'libc.so.6:write(fd to, ptr buf, size_t count)' -- "$TMP/after" "$how"
	expect_exit 0 "$KYMO" query --json "$TMP/after-$how.fxt" \
		'(and (is (e/function) "free") (= (v/value buf) (e/value address)) (not (>= (v/size buf) 0)))'
	gojq -c '[.function, .line, .earlier.function, .earlier.variables.address.size]' "$TMP/stdout" >"$TMP/after-$how"
	expect_exit 0 "$KYMO" query --json "$TMP/after-$how.fxt" \
		'(and (is (e/function) "malloc") (= (v/value buf) (e/value address)))'
	assert_eq "$(gojq -c '[.function, .line, .earlier.line, .earlier.variables.address.size]' "$TMP/stdout")" \
		"[\"write\",$(grep -n 'write(' "$TMP/after.c" | cut -d: -f1),$(grep -n 'buf = malloc' "$TMP/after.c" | cut -d: -f1),40]"
done
for how in right wrong; do
	note "three points: a write, the free of its block, and the allocation; $how"
	expect_exit 0 "$KYMO" export --format tracedb --force -o "$TMP/after.tdb" "$TMP/after-$how.fxt"
	for file in "$TMP/after-$how.fxt" "$(compgen -G "$TMP/after*.tdb")"; do
		expect_exit 0 "$KYMO" query --json "$file" '(and (is (e2/function) "malloc") (is (e/function) "free")
			(= (e/value address) (e2/value address))
			(= (v/value buf) (e/value address)) (not (>= (v/size buf) 0)))'
		gojq -c '[.function, .line, .earlier.function, .earlier2.function, .earlier2.line]' \
			"$TMP/stdout" >>"$TMP/three-$how"
	done
	rm -f "$TMP"/after*.tdb "$TMP"/after*.statements
done
assert_empty "$TMP/three-right" "uses of freed blocks in a program without any"
# (of a free, no call stack is recorded, so it has no line)
assert_eq "$(sort "$TMP/three-wrong" | uniq -c | tr -s ' ')" \
	" 2 [\"write\",$(grep -n 'write(' "$TMP/after.c" | cut -d: -f1),\"free\",\"malloc\",$(grep -n 'buf = malloc' "$TMP/after.c" |
		cut -d: -f1)]" "three points"
assert_empty "$TMP/after-right" "uses of freed blocks in a program without any"
assert_eq "$(<"$TMP/after-wrong")" "[\"write\",$(grep -n 'write(' "$TMP/after.c" | cut -d: -f1),\"free\",40]" \
	"the use of a freed block"

note "moments are points, too, with names, texts and lines"
expect_exit 0 "$KYMO" record --direct -e memory,calls,call-stacks --memory-log -o "$TMP/both.fxt" --collect locals \
	--moment "$TMP/over:over.c:$line" --call 'libc.so.6:write(fd to, ptr buf, size_t count)' -- "$TMP/over" wrong
expect_exit 0 "$KYMO" query --keep-duplicates --json "$TMP/both.fxt" '(and (is (p/function) "write") (= (v/value count) 48))'
assert_eq "$(gojq -r '"\(.caller) \(.source | sub(".*/"; "")):\(.line)"' "$TMP/stdout" | sort | uniq -c | tr -s ' ')" \
	" 3 main over.c:$line" "where write() is called"
expect_exit 0 "$KYMO" query --keep-duplicates --json "$TMP/both.fxt" \
	'(and (matches (p/function) "*over.c*") (> (v/value i) 0) (contains (v/text buf) "xxx"))'
assert_eq "$(gojq -c '[.variables.i.value, .variables.buf.value]' "$TMP/stdout" | tr '\n' ' ')" \
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

note "names that no point has"
expect_exit 1 "$KYMO" query "$TMP/wrong.fxt" '(> (v/value cuont) (v/size buf))'
assert_says "$TMP/stderr" "no point has a variable 'cuont'; did you mean 'count'?"
expect_exit 1 "$KYMO" query "$TMP/some.tdb" '(> (v/value count) (v/size bfu))'
assert_says "$TMP/stderr" "no point has a variable 'bfu'; did you mean 'buf'?"
expect_exit 0 "$KYMO" query --var n "$TMP/wrong.fxt" '(= (v/value n) 48)'

note "comparisons that are false for each point"
expect_exit 3 "$KYMO" query "$TMP/wrong.fxt" '(is (p/function) "wirte")'
assert_empty "$TMP/stdout" "results"
assert_says "$TMP/stderr" "no point has a function 'wirte'; did you mean 'write'?"
expect_exit 3 "$KYMO" query "$TMP/wrong.fxt" '(and (is "fre" (e/function)) (= (v/value buf) (e/value address)))'
assert_says "$TMP/stderr" "no point has a function 'fre'; did you mean 'free'?"
expect_exit 3 "$KYMO" query "$TMP/wrong.fxt" '(matches (p/function) "wrote*")'
assert_says "$TMP/stderr" "no point has a function that matches 'wrote*'"
expect_exit 3 "$KYMO" query --var p "$TMP/wrong.fxt" '(and (is (v/type p) "ponter") (is (v/name p) "buff"))'
assert_says "$TMP/stderr" "no variable has a type 'ponter'; did you mean 'pointer'?"
assert_says "$TMP/stderr" "no variable has a name 'buff'; did you mean 'buf'?"
for file in "$TMP/wrong.fxt" "$TMP/some.tdb"; do
	expect_exit 3 "$KYMO" query "$file" '(> (v/size count) 1)'
	assert_says "$TMP/stderr" "'count' is never a pointer with a size"
	expect_exit 3 "$KYMO" query "$file" '(is (v/text count) "x")'
	assert_says "$TMP/stderr" "'count' is never a text"
done
expect_exit 3 "$KYMO" query "$TMP/some.tdb" '(is (p/function) "write")'
assert_says "$TMP/stderr" "a trace-db file has no function names"
# (with another function that is there, the answer is not empty; a pattern can match, too)
expect_exit 0 "$KYMO" query "$TMP/wrong.fxt" '(or (is (p/function) "write") (is (p/function) "pwrite"))'
assert_says "$TMP/stderr" "no point has a function 'pwrite'"
expect_exit 0 "$KYMO" query "$TMP/wrong.fxt" '(and (matches (p/function) "w*") (contains (p/function) "rit"))'
assert_empty "$TMP/stderr" "complaints"
expect_exit 0 "$KYMO" query --var p:pointer "$TMP/some.tdb" '(> (v/size p) 1000000)'
assert_empty "$TMP/stderr" "complaints"
expect_exit 3 "$KYMO" query --var p:uint,int "$TMP/some.tdb" '(> (v/size p) 1)'
assert_says "$TMP/stderr" "'p' is never a pointer with a size"

note "a buffer is recorded without its address"
expect_exit 0 "$KYMO" record --direct -e memory,calls --memory-log -o "$TMP/buffer.fxt" \
	--call 'libc.so.6:write(fd to, buf[count] buf, size_t count)' -- "$TMP/over" wrong
expect_exit 3 "$KYMO" query "$TMP/buffer.fxt" '(> (v/value count) (v/size buf))'
assert_empty "$TMP/stdout" "results"
assert_says "$TMP/stderr" "'buf' was recorded as a text, without its address, so the size of its block is unknown: record it as 'ptr buf'"
expect_exit 1 "$KYMO" query "$TMP/buffer.fxt" '(> (v/value count) (v/size bfu))'
assert_says "$TMP/stderr" "no point has a variable 'bfu'; did you mean 'buf'?"

note "sizes that are unknown"
expect_exit 0 "$KYMO" record --direct -o "$TMP/bare.fxt" --call 'libc.so.6:write(fd to, ptr buf, size_t count)' \
	-e calls -- "$TMP/over" wrong
expect_exit 3 "$KYMO" query "$TMP/bare.fxt" '(> (v/value count) (v/size buf))'
assert_empty "$TMP/stdout" "results"
assert_says "$TMP/stderr" "record with -e memory --memory-log" "the reason"
expect_exit 1 "$KYMO" query "$TMP/bare.fxt" '(= (v/value buf) (e/value address))'
assert_says "$TMP/stderr" "allocations were not recorded" "the reason"
expect_exit 0 "$KYMO" query "$TMP/bare.fxt" '(> (v/value count) 40)'

note "sampled allocations have no sizes"
expect_exit 0 "$KYMO" record --direct -e memory,calls --memory-log --memory-interval 64K -o "$TMP/sampled.fxt" \
	--call 'libc.so.6:write(fd to, ptr buf, size_t count)' -- "$TMP/over" wrong
expect_exit 1 "$KYMO" query "$TMP/sampled.fxt" '(> (v/value count) (v/size buf))'
assert_says "$TMP/stderr" "allocations were sampled" "the reason"

note "expressions that are none"
expect_exit 2 "$KYMO" query "$TMP/wrong.fxt" '(> (v/value count) (and 1))'
assert_says "$TMP/stderr" "where a number is expected" "the reason"
no_bpf_left "recordings"
