#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Call traces: Debian's apitrace reads kymo's call traces, and prints the same text as kymo. kymo
# reads traces of apitrace and of similar programs, in each container, also truncated ones. If
# apitrace, or a prerequisite for its recording, is missing, these parts are skipped.

. "$(dirname "$0")/../lib.sh"

cd "$TMP" || exit 1
"$MAKE_APITRACE" all.trace
"$MAKE_APITRACE" many.trace snappy 20000
"$MAKE_APITRACE" small-chunks.trace snappy 2000 512

have_peer=
! command -v apitrace >/dev/null || have_peer=1

# kymo_dump OPTION ... FILE: to ours, ends as it should
kymo_dump() {
	"$KYMO" dump "$@" >ours
}

# same OPTION ... FILE: apitrace prints the same
same() {
	kymo_dump "$@"
	[ "$have_peer" ] || return 0
	apitrace dump "$@" >theirs
	cmp ours theirs || fail "kymo dump $* is not what apitrace prints"
}

# ---- one after the other, in each reader ----

same all.trace
assert_line ours '// process.name = "/usr/bin/demo"'
assert_line ours '94 open(path = "/etc/passwd", flags = O_CREAT, stat = ?, @dur_ns = 1500) = "-ENOENT"'
assert_line ours '/bin/true: main+0x1234: true.c:7'
! grep -q glIsEnabled ours || fail "calls that only ask something are shown"
same -v all.trace
assert_line ours '100 glIsEnabled(value = ?) // incomplete'
for option in --thread-ids --thread-ids=no --call-nos=no --arg-names=no --multiline=no --calls=90-95 \
	--calls=3,5,10-20/4 '--calls=*/frame' --grep=show '--grep=^gl.*Marker'; do
	same "$option" all.trace
	assert_ge "$(wc -l <ours)" 1
done
mkdir blobs theirs.blobs
(cd blobs && "$KYMO" dump --blobs ../all.trace >../ours)
assert_line ours '68 show(value = blob("blob_call68.bin"))'
assert_eq "$(stat -c %s blobs/blob_call68.bin blobs/blob_call69.bin | xargs)" "300 0"
(cd blobs && expect_exit 1 "$KYMO" dump --blobs ../all.trace)
assert_says "$TMP/stderr" 'cannot write blob_call68.bin'
if [ "$have_peer" ]; then
	(cd theirs.blobs && apitrace dump --blobs ../all.trace >../theirs)
	cmp ours theirs
	diff -r blobs theirs.blobs
fi
same many.trace
same small-chunks.trace
assert_ge "$(grep -c '^[0-9]* open(' ours)" 2000
"$KYMO" dump - <all.trace >piped
"$KYMO" dump all.trace | cmp - piped

"$KYMO" check --notes all.trace >out
assert_contains out '^note call-incomplete'
assert_says out '0 errors, 0 warnings'
"$KYMO" summary --json many.trace >out.json
"$KYMO" summary many.trace >out
assert_contains out '^ *20001 .* open$'
"$KYMO" dump --json all.trace >json
if command -v gojq >/dev/null; then
	assert_eq "$(gojq -r '.calls, .threads, .compression' out.json | xargs)" "20104 12 snappy"
	assert_eq "$(gojq -c 'select(.no == 94) | [.thread, .function, .ret.machine, .args[1].value.flags]' json)" \
		'[4243,"open",-2,["O_CREAT"]]'
	assert_eq "$(gojq -s 'length' json)" 105
	sed -n 2p json >call.json
	"$KYMO" check --json all.trace >check.json
	assert_documented 'summary of a call trace' out.json
	assert_documented 'check of a call trace' check.json
	assert_documented 'dump of a call trace' call.json
fi

# ---- cut off, damaged ----

# cut FILE BYTES: truncates FILE, and checks that the calls before that are read
cut_at() {
	head -c "$2" "$1" >cut.trace
	expect_exit 3 "$KYMO" dump --multiline=no cut.trace
	grep -v '// incomplete' "$TMP/stdout" >ours || true
	"$KYMO" dump --multiline=no "$1" >whole
	cmp -n "$(stat -c %s ours)" ours whole
	[ "$have_peer" ] || return 0
	# Nothing that apitrace still reads is missing.
	apitrace dump --multiline=no cut.trace 2>/dev/null | grep -v '// incomplete' >theirs || true
	cmp -n "$(stat -c %s theirs)" theirs ours
	assert_ge "$(stat -c %s ours)" "$(stat -c %s theirs)"
}
size=$(stat -c %s small-chunks.trace)
for part in 3 5 8; do
	cut_at small-chunks.trace $((size * part / 9))
done
cut_at many.trace "$(($(stat -c %s many.trace) - 1000))"
expect_exit 3 "$KYMO" check cut.trace
assert_contains "$TMP/stdout" '^error call-container'

"$MAKE_APITRACE" plain.trace none 50
for at in 100 500 900 1500; do
	cp plain.trace flipped.trace
	printf '\xff\xff\xff' | dd of=flipped.trace bs=1 seek=$at conv=notrunc status=none
	status=0
	timeout "$(limit 20)" "$KYMO" dump flipped.trace >ours 2>stderr || status=$?
	[ $status = 0 ] || [ $status = 3 ] || fail "exit status $status"
	[ $status = 0 ] || assert_contains stderr 'at byte [0-9]*: '
done
printf '\x07\x07\0' >seven.raw
printf 'at\x05\0\0\0\x03\x08\x07\x07\0' >seven.trace
expect_exit 1 "$KYMO" dump seven.trace
assert_says "$TMP/stderr" 'of version 7; kymo reads versions 0 to 6'
expect_exit 1 "$KYMO" flame all.trace
assert_says "$TMP/stderr" 'is a call trace (apitrace)'
expect_exit 1 "$KYMO" dump --calls=1 "$ROOT/tests/fuzz/corpus/fxt-reader/profile"
assert_says "$TMP/stderr" 'is not a call trace'
expect_exit 2 "$KYMO" dump --calls=x all.trace
expect_exit 2 "$KYMO" dump --multiline=perhaps all.trace
expect_exit 2 "$KYMO" dump '--grep=(' all.trace

# ---- old versions ----

# version N CALLS: gzip, as it was then
version() {
	# shellcheck disable=SC2059 # these are bytes
	printf "\\x$1$2" | gzip >"version-$1.trace"
	same --thread-ids "version-$1.trace"
	assert_eq "$(wc -l <ours)" "$3"
}
# enter f(x, y); apitrace reads no threads of these
f='\x00\x00\x01f\x02\x01x\x01y'
version 00 "$f\\x01\\x00\\x09\\x00\\x01A\\x04\\x07\\x00\\x01\\x00\\x02\\x09\\x00\\x00" 1
assert_line ours '0 @0 f(x = A, y = ?) = A'
version 01 "$f\\x01\\x00\\x0d\\x80\\x01\\x01\\x01\\x08\\x02zz\\x00\\x01\\x00\\x00" 1
version 02 "$f\\x01\\x00\\x09\\x00\\x01A\\x03\\x07\\x00" 1
version 03 "$f\\x01\\x00\\x09\\x00\\x02\\x01A\\x04\\x01\\x01B\\x03\\x01\\x03\\x01\\x00\\x01\\x00\\x00" 1
assert_line ours '0 @0 f(x = B, y = ?)'
f='\x00\x92\x21\x00\x01f\x02\x01x\x01y'
version 04 "$f\\x00\\x01\\x00\\x02\\x02\\x00" 1
assert_line ours '0 @1092 f(x = ?, y = ?) = true'
version 05 "$f\\x04\\x01\\x00\\x01\\x01m\\x05\\x10\\x00\\x00\\x01\\x00\\x00" 3

# ---- containers ----

"$KYMO" dump many.trace >whole
for method in gzip zstd none; do
	"$MAKE_APITRACE" other.trace $method 20000
	"$KYMO" dump other.trace >ours
	cmp whole ours
	[ $method != gzip ] || same other.trace
done
[ "$have_peer" ] || skip "apitrace is missing (tools/setup test): what others write was not read"
declare -A container=([-s]=snappy [-z]=gzip [--brotli=5]=brotli)
for way in "${!container[@]}"; do
	apitrace repack "$way" many.trace other.trace >/dev/null
	"$KYMO" dump other.trace >ours
	cmp whole ours
	"$KYMO" summary other.trace >out
	assert_contains out ", ${container[$way]}\$"
	# and back, byte for byte
	apitrace repack -z other.trace other.gz >/dev/null
	gzip -dc other.gz | cmp - <("$MAKE_APITRACE" /dev/stdout none 20000)
done
apitrace repack --brotli=5 many.trace other.trace >/dev/null
head -c $(($(stat -c %s other.trace) / 2)) other.trace >cut.trace
expect_exit 3 "$KYMO" dump cut.trace
assert_says "$TMP/stderr" 'cut off in a Brotli stream'
assert_says "$TMP/stdout" '94 open('

# ---- apitrace's other tools read it ----

apitrace info all.trace >info.json
assert_says info.json '"FramesCount": 1'
apitrace pickle all.trace >pickled
assert_ge "$(stat -c %s pickled)" 1000
# (it loses stacks, and cannot read its own output then)
apitrace trim --calls=60-96 -o trimmed.trace all.trace >/dev/null
same trimmed.trace
assert_says ours 'open(path = "/etc/passwd"'
apitrace sed -e 's/1st/first/' -o edited.trace trimmed.trace >/dev/null
same edited.trace

# ---- a program recorded by apitrace ----

for command in xvfb-run glxgears xauth; do
	command -v $command >/dev/null || skip "$command is missing (tools/setup test): apitrace recorded nothing"
done
# (It is ended by a signal when it has written something: the file has no proper end.)
# shellcheck disable=SC2016 # for the shell below Xvfb
timeout "$(limit 60)" xvfb-run -a bash -c '
	LP_NUM_THREADS=1 timeout -s INT "$1" apitrace trace -o gears.trace glxgears &
	while jobs -r | grep . >/dev/null && [ "$(stat -c %s gears.trace || echo 0)" -lt 50000 ]; do
		sleep 0.05
	done
	kill -INT $!
	wait' - "$(limit 20)" >/dev/null 2>&1 || true
[ -s gears.trace ] || skip "apitrace trace made no file of glxgears under Xvfb"
status=0
apitrace dump gears.trace >theirs 2>/dev/null
"$KYMO" dump gears.trace >ours || status=$?
[ $status = 0 ] || [ $status = 3 ]
[ $status = 3 ] || cmp ours theirs
assert_says ours 'glXMakeCurrent('
assert_says ours 'glXSwapBuffers('
"$KYMO" summary gears.trace >out || true
assert_contains out '^frames of graphics: '
