#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# trace-db files that were worked out by hand, in both layouts: query, dump, summary and check read
# them from files, pipes and containers, as they come, and up to where they are damaged.

. "$(dirname "$0")/../lib.sh"

cd "$TMP" || exit 1

# bytes HEX ...: these bytes; spaces do not matter
bytes() {
	local hex=$*

	hex=${hex//[[:space:]]/}
	# shellcheck disable=SC2001,SC2059 # it is a format; two characters are replaced at a time
	printf "$(sed 's/../\\x&/g' <<<"$hex")"
}


# ---- by hand ----

# Names u, p, text, count, buf: 19 bytes; types u (unsigned, 8 bytes), p (pointer, 8), text (blob).
names="75 00 70 00 74657874 00 636f756e74 00 627566 00"
bytes "1300000000000000 $names 03000000
	00000000 00000000 08000000  01000000 03000000 08000000  02000000 04000000 00000000" >head64
bytes "1300 $names 0300
	0000 0000 00000000 08 000000  0100 0000 03000000 08 000000  0200 0000 04000000 00 000000" >head16

# Statement 0x11: a block of 32 bytes at 0x1000; count = 40, buf = 0x1008, text = "hi", aux 7.
bytes "01 1100000000000000  03 0010000000000000 2000000000000000
	02 03000000 00000000 2800000000000000  02 04000000 01000000 0810000000000000
	02 02000000 02000000 02000000 6869  04 0700000000000000 00" >first64
bytes "01 11000000  03 0010000000000000 2000000000000000
	02 0300 0000 2800000000000000  02 0400 0100 0810000000000000
	02 0200 0200 0200 6869  04 0700000000000000 00" >first16
# Statement 0x12: count = 3, buf = 0x1018, and the same after the block is freed.
bytes "01 1200000000000000 02 03000000 00000000 0300000000000000
	02 04000000 01000000 1810000000000000 00" >second64
bytes "01 12000000 02 0300 0000 0300000000000000 02 0400 0100 1810000000000000 00" >second16
bytes "01 1300000000000000 03 0010000000000000 0000000000000000
	02 03000000 00000000 0300000000000000 02 04000000 01000000 1810000000000000 00" >third64
bytes "01 13000000 03 0010000000000000 0000000000000000
	02 0300 0000 0300000000000000 02 0400 0100 1810000000000000 00" >third16

for w in 16 64; do
	cat head$w first$w second$w third$w >w$w.tdb
	expect_exit 0 "$KYMO" query w$w.tdb '(> (v/value count) (v/size buf))'
	assert_eq "$(<stdout)" "point 0 statement 0x11: count = 40, buf = 0x1008 (24 bytes)"
	expect_exit 0 "$KYMO" query w$w.tdb '(not (>= (v/size buf) 0))'
	assert_eq "$(<stdout)" "point 2 statement 0x13: buf = 0x1018"
	expect_exit 0 "$KYMO" query --var any:p,u --mask 0x1d --statement 0x11 --json w$w.tdb '(> (v/value any) 4)'
	assert_eq "$(gojq -rc '"\(.point) \(.variables.any | [.name, .value, .size])"' stdout | paste -sd ' ')" \
		'0 ["count",40,null] 0 ["buf",4104,24] 2 ["buf",4120,null]'
	expect_exit 0 "$KYMO" check w$w.tdb
	assert_says stdout "(trace-db, W$w), not packed, $(stat -c %s w$w.tdb | sed 's/$/ B/'), 3 points, 0 errors, 0 warnings"
	expect_exit 0 "$KYMO" dump w$w.tdb
	sed 1d stdout >dumped$w
	expect_exit 0 "$KYMO" summary --json w$w.tdb
	assert_eq "$(gojq -c '[.layout, .points, .values, .buffers_set, .buffers_removed]' stdout)" "[\"W$w\",3,7,1,1]"
	# The found points, written again.
	expect_exit 0 "$KYMO" query -o again.tdb --force w$w.tdb '(> (v/value count) (v/size buf))'
	expect_exit 0 "$KYMO" query again.tdb '(> (v/value count) (v/size buf))'
	assert_eq "$(<stdout)" "point 0 statement 0x11: count = 40, buf = 0x1008 (24 bytes)"
	# (a pointer whose buffer is removed gets none from the previous point)
	expect_exit 0 "$KYMO" query --keep-duplicates -o again.tdb --force w$w.tdb '(= (v/value count) 3)'
	expect_exit 0 "$KYMO" query again.tdb '(not (>= (v/size buf) 0))'
	assert_eq "$(<stdout)" "point 1 statement 0x13: buf = 0x1018"
	expect_exit 0 "$KYMO" query again.tdb '(= (v/size buf) 8)'
	assert_eq "$(<stdout)" "point 0 statement 0x12: buf = 0x1018 (8 bytes)"
done
# (a pointer to the end of its buffer, of which 0 bytes are left)
cat head64 <(bytes "01 1100000000000000  03 0010000000000000 2000000000000000
	02 04000000 01000000 2010000000000000 00") >end.tdb
expect_exit 0 "$KYMO" query -o again.tdb --force end.tdb '(= (v/size buf) 0)'
expect_exit 0 "$KYMO" query again.tdb '(= (v/size buf) 0)'
assert_eq "$(<stdout)" "point 0 statement 0x11: buf = 0x1020 (0 bytes)"
expect_exit 0 "$KYMO" check again.tdb
assert_says stdout "0 errors, 0 warnings"
# (the parts of a point keep their order; here, the statement is in their middle)
cat head64 <(bytes "04 0700000000000000 02 03000000 00000000 2800000000000000 01 2100000000000000
	03 0010000000000000 2000000000000000 02 04000000 01000000 0810000000000000
	04 0800000000000000 03 0030000000000000 0800000000000000 00") second64 first64 >order.tdb
for trace in order w64; do
	expect_exit 0 "$KYMO" query --keep-duplicates -o again.tdb --force $trace.tdb ''
	cmp again.tdb $trace.tdb || fail "$trace.tdb: the points are not written as they were"
	expect_exit 0 "$KYMO" query --keep-duplicates --pick 1 -o again.tdb --force $trace.tdb ''
	expect_exit 0 "$KYMO" query again.tdb ''
	sed 's/point 0/point/' stdout >picked
	expect_exit 0 "$KYMO" query --pick 1 $trace.tdb ''
	sed 's/point [0-9]/point/' stdout | diff - picked >&2 || fail "$trace.tdb: another point is picked"
done
# (points that set and remove buffers are left out)
cat head64 first64 second64 third64 second64 first64 second64 >changes.tdb
expect_exit 0 "$KYMO" query --keep-duplicates -o again.tdb --force changes.tdb '(= (p/statement) 0x12)'
expect_exit 0 "$KYMO" query --keep-duplicates --json again.tdb '(> (v/value buf) 0)'
assert_eq "$(gojq -c .variables.buf.size stdout | paste -sd ' ')" "8 null 8"
assert_eq "$("$KYMO" dump again.tdb | grep -c buffer)" 3 "buffers that are set or removed"
# (a buffer that begins at a pointer to the end of another one is removed by a point that is left out)
cat head64 <(bytes "01 2100000000000000 03 2010000000000000 0800000000000000 02 04000000 01000000 2010000000000000 00
	01 2200000000000000 03 2010000000000000 0000000000000000 00
	01 2100000000000000 03 0010000000000000 2000000000000000 02 04000000 01000000 2010000000000000 00") >hidden.tdb
expect_exit 0 "$KYMO" query --keep-duplicates -o again.tdb --force hidden.tdb '(= (p/statement) 0x21)'
expect_exit 0 "$KYMO" query --keep-duplicates --json again.tdb '(> (v/value buf) 0)'
assert_eq "$(gojq -c .variables.buf.size stdout | paste -sd ' ')" "8 0"
diff dumped16 dumped64 >&2 || fail "the two layouts are not read alike"
assert_eq "$(sed -n '/^point 0/,/^point 1/p' dumped64 | paste -sd, | tr -s ' ')" \
	"point 0, statement 0x11, buffer 0x1000 of 32 bytes, u count = 40, p buf = 0x1008, text text = \"hi\", auxiliary 0x7,point 1"

# ---- two points in one query ----

expect_exit 0 "$KYMO" query w64.tdb '(and (= (v/value buf) (e/value buf)) (not (>= (v/size buf) 0)))'
assert_eq "$(<stdout)" "point 2 statement 0x13: buf = 0x1018; after point 1 statement 0x12: buf = 0x1018 (8 bytes)"
# (of several earlier ones the last)
expect_exit 0 "$KYMO" query --json w64.tdb '(> (e/value buf) 0)'
assert_eq "$(gojq -c '[.point, .earlier.point]' stdout | paste -sd ' ')" '[1,0] [2,1]'
expect_exit 0 "$KYMO" query -o pair.tdb w64.tdb '(and (= (v/value buf) (e/value buf)) (= (p/statement) 0x13))'
expect_exit 0 "$KYMO" summary --json pair.tdb
assert_eq "$(gojq -c '[.statements[].statement]' stdout)" "[18,19]"
expect_exit 2 "$KYMO" query --var x w64.tdb '(= (v/value x) (e/value x))'
assert_says stderr "'x' is a variable of the point and of an earlier one; declare two"

# ---- three points and more ----

# Statements: 1 allocates the block at buf, 2 frees it, 3 uses it. The file is written by kymo, once more.
life() {
	local at=(0010 0020) point

	cat head64
	for point in "$@"; do
		bytes "01 0${point%:*}00000000000000 02 04000000 01000000 ${at[${point#*:}]}000000000000 00"
	done
}
life 1:0 1:1 3:0 2:0 3:0 3:1 1:0 3:0 2:1 2:0 3:0 3:1 >hand.tdb
expect_exit 0 "$KYMO" query --keep-duplicates -o life.tdb hand.tdb ''
uses='(= (p/statement) 3) (= (e/statement) 2) (= (e2/statement) 1)'
uses+=' (= (v/value buf) (e/value buf)) (= (e/value buf) (e2/value buf))'
expect_exit 0 "$KYMO" query --keep-duplicates life.tdb "(and $uses)"
assert_eq "$(head -n 1 stdout)" "point 4 statement 0x3: buf = 0x1000; after point 3 statement 0x2: buf = 0x1000;\
 after point 0 statement 0x1: buf = 0x1000"
expect_exit 0 "$KYMO" query --keep-duplicates --json life.tdb "(and $uses)"
assert_eq "$(gojq -c '[.point, .earlier.point, .earlier2.point, .earlier2.variables.buf.value]' stdout | paste -sd ' ')" \
	'[4,3,0,4096] [7,3,0,4096] [10,9,6,4096] [11,8,1,8192]'
# (of equal ones, the first; and from a pipe)
expect_exit 0 "$KYMO" query life.tdb "(and $uses)"
assert_eq "$(wc -l <stdout)" 1
# shellcheck disable=SC2002 # a pipe is wanted
cat life.tdb | "$KYMO" query - --keep-duplicates "(and $uses)" >piped
assert_eq "$(wc -l <piped)" 4
expect_exit 0 "$KYMO" query --json life.tdb "(and (= (p/statement) 2) (= (e/statement) 1) (= (e2/statement) 2)
	(= (e3/statement) 1) (= (v/value buf) (e/value buf)) (= (e/value buf) (e2/value buf)) (= (v/value buf) (e3/value buf)))"
assert_eq "$(gojq -c '[.point, .earlier.point, .earlier2.point, .earlier3.point]' stdout)" '[9,6,3,0]'
# (free variables; and of the results, those of block 1)
expect_exit 0 "$KYMO" query --keep-duplicates --var x:p --var y:p --var z:p --json life.tdb \
	"(and (= (p/statement) 3) (= (e/statement) 2) (= (e2/statement) 1)
	(= (v/value x) (e/value y)) (= (e/value y) (e2/value z)) (> (e2/value z) 0x1fff))"
assert_eq "$(gojq -c '[.point, .variables.x.name, .earlier2.variables.z.value]' stdout)" '[11,"buf",8192]'
# (the block is not allocated again before the use; it is freed once)
allocated='(none (= (b/statement) 1) (= (b/value buf) (v/value buf)))'
expect_exit 0 "$KYMO" query --keep-duplicates --json life.tdb "(and $uses $allocated)"
assert_eq "$(gojq -c '[.point, .earlier.point, .earlier2.point, (.variables | keys)]' stdout | paste -sd ' ')" \
	'[4,3,0,["buf"]] [10,9,6,["buf"]] [11,8,1,["buf"]]'
twice="(and (= (p/statement) 2) (= (e/statement) 2) (= (v/value buf) (e/value buf)) $allocated)"
expect_exit 0 "$KYMO" query life.tdb "$twice"
assert_empty stdout "blocks that are freed twice"
life 1:0 1:1 2:0 2:1 1:0 2:0 2:1 >hand.tdb
expect_exit 0 "$KYMO" query hand.tdb "$twice"
assert_eq "$(<stdout)" "point 6 statement 0x2: buf = 0x2000; after point 3 statement 0x2: buf = 0x2000"
expect_exit 2 "$KYMO" query --soft "$allocated" hand.tdb '(= (e/statement) 2)'
assert_says stderr "'none' is not possible in a soft expression"
# All points of a result are written, the earliest first.
expect_exit 0 "$KYMO" query -o uses.tdb life.tdb "(and $uses)"
expect_exit 0 "$KYMO" query --keep-duplicates uses.tdb ''
assert_eq "$(cut -d: -f1 stdout | paste -sd ,)" "point 0 statement 0x1,point 1 statement 0x2,point 2 statement 0x3"
note "why there are no results"
expect_exit 0 "$KYMO" query life.tdb "(and $uses (= (e2/value buf) 0x3000))"
assert_empty stdout "results"
assert_says stderr "life.tdb: no point fulfils the conditions about e2/ alone, so there are no results"
expect_exit 0 "$KYMO" query life.tdb "(and $uses (< (v/value buf) (e2/value buf)))"
assert_empty stdout "results"
assert_says stderr "some points fulfil the conditions about one point (6 for v/ and p/, 3 for e/ and 3 for e2/), but no"
expect_exit 2 "$KYMO" query life.tdb '(= (v/value buf) (e2/value buf))'
assert_says stderr "e2/ is a point before that of e/, which has no condition: use e/ first"

# ---- pipes and containers ----

"$KYMO" query - '(= (v/value count) 3)' --keep-duplicates <w64.tdb >expected || fail "standard input"
assert_eq "$(wc -l <expected)" 2
# shellcheck disable=SC2002 # a pipe is wanted
cat w64.tdb | "$KYMO" query - '(= (v/value count) 3)' --keep-duplicates | diff expected - >&2 || fail "a pipe"
gzip -k w64.tdb
"$KYMO" query w64.tdb.gz '(= (v/value count) 3)' --keep-duplicates | diff expected - >&2 || fail "packed"
# shellcheck disable=SC2002
cat w64.tdb | "$KYMO" query - --pick 1 '' >picked
"$KYMO" query w64.tdb --pick 1 '' | diff picked - >&2 || fail "the same seed picks another point"

note "a result comes while the pipe is open"
mkfifo pipe
"$KYMO" query pipe '(= (v/value count) 3)' --keep-duplicates >live 2>live-errors &
exec 7>pipe
cat head64 first64 second64 >&7
wait_for 10 grep -q '^point 1 statement 0x12: count = 3$' live
assert_eq "$(wc -l <live)" 1
cat third64 >&7
wait_for 10 grep -q '^point 2 statement 0x13: count = 3$' live
exec 7>&-
wait $! || fail "the query of a pipe failed: $(<live-errors)"

# ---- free variables ----

vars=()
for i in {1..16}; do
	vars+=(--var "v$i")
done
expect_exit 1 timeout "$(limit 60)" "$KYMO" query "${vars[@]}" w64.tdb '(> (v/value v1) (v/value v2))'
assert_says stderr "a point has more than 16777216 assignments of the free variables"

# ---- the table of statements beside the file ----

cp w64.tdb named.tdb
gzip -k named.tdb
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
	0x11 write main over.c 12 0x1040 aabb /bin/over \
	0x12 read - - 0 0x0 - - 0x14 $'\e[31mred' - - 0 0x0 - - >named.statements
for trace in named.tdb named.tdb.gz; do
	expect_exit 0 "$KYMO" query $trace '(> (v/value count) (v/size buf))'
	assert_eq "$(<stdout)" "point 0 write, called by main over.c:12: count = 40, buf = 0x1008 (24 bytes)"
done
expect_exit 0 "$KYMO" query --json named.tdb ''
assert_eq "$(gojq -c '[.statement, .function, .caller, .source, .line]' stdout | paste -sd ' ')" \
	'[17,"write","main","over.c",12] [18,"read",null,null,null] [19,null,null,null,null]'
expect_exit 0 "$KYMO" query named.tdb '(is (p/function) "read")'
assert_eq "$(<stdout)" "point 1 read"
expect_exit 3 "$KYMO" query named.tdb '(is (p/function) "raed")'
assert_says stderr "no point has a function 'raed'; did you mean 'read'?"
cat head64 <(bytes "01 1400000000000000 00") >named.tdb
"$KYMO" query named.tdb '' >red
! grep -q $'\e' red || fail "the table sends a command to the terminal"
"$KYMO" query - '' <named.tdb >unnamed
assert_eq "$(<unnamed)" "point 0 statement 0x14"
echo "0x15" >>named.statements
expect_exit 3 "$KYMO" query named.tdb ''
assert_says stderr "named.statements: line 4 is not a statement"
rm named.statements
mkfifo named.statements
expect_exit 3 "$KYMO" query named.tdb ''
assert_says stderr "named.statements: it is not a table of statements"
assert_eq "$(<stdout)" "point 0 statement 0x14"

# ---- damage ----

size=$(stat -c %s w64.tdb)
head -c $((size - 3)) w64.tdb >cut.tdb
expect_exit 3 "$KYMO" query cut.tdb '(> (v/value count) 0)' --keep-duplicates
assert_eq "$(wc -l <stdout)" 2
assert_says stderr "the trace ends within a point"
expect_exit 3 "$KYMO" check --json cut.tdb
assert_eq "$(gojq -rc '[.points, .kinds[].id]' stdout)" '[2,"tracedb-damaged"]'
head=$(($(stat -c %s head64) + $(stat -c %s first64)))
cat head64 first64 <(bytes 05) second64 >tag.tdb
expect_exit 3 "$KYMO" dump tag.tdb
assert_says stderr "at byte $head: an entry of no known kind"
assert_eq "$(grep -c ^point stdout)" 1
cat head64 first64 <(bytes "02 ff000000") second64 >name.tdb
expect_exit 3 "$KYMO" summary name.tdb
assert_says stderr "at byte $head: a variable whose name is not in the dictionary"
# (a blob of 4 GiB)
cat head64 first64 <(bytes "02 02000000 02000000 ffffffff") second64 >blob.tdb
expect_exit 3 "$KYMO" query blob.tdb ''
assert_says stderr "at byte $head: a point of more than 64 MiB"

cat head64 <(bytes "02 04000000 01000000 0810000000000000 03 0010000000000000 2000000000000000 00") >odd.tdb
expect_exit 0 "$KYMO" check odd.tdb
assert_says stdout "tracedb-no-statement"
assert_says stdout "tracedb-late-buffer"
expect_exit 3 "$KYMO" check --strict odd.tdb
expect_exit 0 "$KYMO" check --explain tracedb-late-buffer
# (late are pointers in the buffer, from its first byte to its last)
for pointer in ff0f 0010 1f10 2010; do
	cat head64 <(bytes "01 1100000000000000  02 04000000 01000000 ${pointer}000000000000
		02 04000000 01000000 0000000000000000 03 0010000000000000 2000000000000000 00") >odd.tdb
	expect_exit 0 "$KYMO" check --json odd.tdb
	gojq -r "\"$pointer \(.warnings)\"" stdout
done >late
assert_eq "$(paste -sd, late)" "ff0f 0,0010 1,1f10 1,2010 0"
# (a quarter of a million of each, which are not all compared with each other)
bytes "02 04000000 01000000 0100000000000000" >pointers
bytes "03 0010000000000000 2000000000000000" >buffers
for file in pointers buffers; do
	for _ in {1..18}; do
		cat $file $file >twice
		mv twice $file
	done
done
cat head64 <(bytes "01 1100000000000000") pointers buffers <(bytes 00) >large.tdb
expect_exit 0 timeout "$(limit 60)" "$KYMO" check large.tdb
assert_says stdout "0 warnings"
# JSON has no NaN.
bytes "0600000000000000 66 00 6e616e 00 01000000  00000000 02000000 08000000
	01 1100000000000000 02 01000000 00000000 000000000000f87f 00" >nan.tdb
expect_exit 0 "$KYMO" dump --json nan.tdb
assert_eq "$(tail -n 1 stdout | gojq -r '.entries[1].variable.value | type + " " + .')" "string nan"

# ---- other files ----

expect_exit 1 "$KYMO" flame w64.tdb
assert_says stderr "it is a trace-db file; use 'kymo query'"
head -c 4096 /dev/zero >zeroes
expect_exit 1 "$KYMO" query zeroes ''
assert_says stderr "it does not start with the magic number"
# (statements alone need no names)
cat <(bytes "0000000000000000 00000000 01 0100000000000000 00 01 0200000000000000 00") >bare.tdb
expect_exit 0 "$KYMO" query bare.tdb '(= (p/statement) 2)'
assert_eq "$(<stdout)" "point 1 statement 0x2"
