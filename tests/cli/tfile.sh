#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# GDB trace files: gdb opens kymo's files, and finds the values that the program printed in them;
# kymo reads the files that gdbserver collects and gdb saves, frame by frame, and gdb gets the same
# answers from kymo's copy. If gdb or gdbserver is missing, these parts are skipped. Then the verbs,
# and damage.


. "$(dirname "$0")/../lib.sh"

TARGETS=$(dirname "$MAKE_TFILE")
AGENT=/usr/lib/libinproctrace.so

cd "$TMP" || exit 1

# asked FILE COMMAND ...: prints gdb's answers after the commands in FILE, each answer after its
# command
asked() {
	local script=$1 command
	local ask=()

	shift
	for command in "$@"; do
		ask+=(-ex "echo \\n>>> $command\\n" -ex "$command")
	done
	HOME=$TMP timeout "$(limit 60)" gdb -q -nx -nh -batch -iex 'set auto-load off' \
		-iex 'set debuginfod enabled off' -iex 'set width 0' -x "$script" "${ask[@]}" 2>&1
}

# answer FILE COMMAND: the lines that came for it first
answer() {
	awk -v command=">>> $2" '$0 == command { on = 1; next } /^>>> / && on { exit } on' "$1"
}

# ---- files of kymo ----

# (gdb splits arguments as a shell does)
mkdir "it's a \\dir"
for kind in pie no-pie; do
	cp "$TARGETS/tfile-target-$kind" "it's a \\dir"
	"$MAKE_TFILE" "it's a \\dir/tfile-target-$kind" "$kind.tf" "$kind.gdb" >truth 2>libraries
	assert_eq "$(wc -l <truth)" 4
	assert_contains libraries '^libraries [3-9], blocks .*, complete$'
	expect_exit 0 "$KYMO" check "$kind.tf"
	assert_contains "$TMP/stdout" ' 4 frames, 0 errors, 0 warnings$'
	command -v gdb >/dev/null || continue

	questions=()
	frame=0
	while read -r line; do
		format=$(sed 's/= [^;]*/= %d/g; s/\(n->name = %\)d/\1s/' <<<"$line")
		values=$(grep -o '[^ ;]* = ' <<<"$line" | sed 's/ = $//' | paste -sd,)
		questions+=("tfind $frame" "printf \"$format\\n\", $values" bt "info registers rip" tdump)
		frame=$((frame + 1))
	done <truth
	asked "$kind.gdb" tstatus 'info tvariables' 'info sharedlibrary' "${questions[@]}" >answers

	assert_says answers 'Trace stopped by a tstop command (it ended).'
	assert_says answers 'Buffer contains 4 trace frames (of 6 created total).'
	assert_says answers 'Trace user is somebody.'
	assert_says answers 'Trace started at 1700000000.000000 secs, stopped 1.500000 secs later.'
	answer answers 'info tvariables' >told
	assert_contains told '^\$tid *-1 *[1-9][0-9]* *$'
	answer answers 'info sharedlibrary' >told
	assert_contains told '^0x[0-9a-f]* .*/libc\.so\.6$'
	grep -v '^$' truth | while read -r line; do
		grep -qF -- "$line" answers || fail "$kind: gdb does not see '$line'"
	done
	# In the last frame, libc is between the two.
	asked "$kind.gdb" 'tfind 2' bt 'tfind 3' bt 'tfind 0' 'tfind tracepoint 2' 'tfind 0' \
		'tdump' 'info registers' 'x/i $pc' 'p $st0' 'tfind end' >answers
	answer answers bt >told
	assert_eq "$(grep -c 'in tfile_target_nest (depth=[0-3])' told)" 4
	assert_contains told '^#0 .*tfile_target_push \(value=40, '
	assert_contains told '^#5 .* in main \('
	sed -n '/^>>> tfind 3$/,$p' answers >rest
	answer rest bt >told
	assert_contains told '^#0 .*tfile_target_compare \(a=0x'
	assert_contains told '^#[2-9] .* in main \('
	assert_ge "$(grep -c '^#' told)" 3
	answer answers 'tfind tracepoint 2' >told
	assert_says told 'Found trace frame 3, tracepoint 2'
	# A part without the first frame has its list of libraries.
	"$KYMO" cut --force --tracepoint=2 "$kind.tf" part.tf 2>/dev/null
	sed 's/^target tfile .*/target tfile part.tf/' "$kind.gdb" >part.gdb
	asked part.gdb 'info sharedlibrary' bt >part.answers
	answer part.answers 'info sharedlibrary' >told
	assert_contains told '^0x[0-9a-f]* .*/libc\.so\.6$'
	answer part.answers bt >told
	assert_contains told '^#[2-9] .* in main \('
	answer answers 'tdump' >told
	assert_contains told '^\$ts_ns = 0$'
	assert_contains told '^rip .*<tfile_target_push\+[0-9]*>$'
	answer answers 'x/i $pc' >told
	assert_contains told '^=> .*int3'
	answer answers 'p $st0' >told
	assert_says told '<unavailable>'
	answer answers 'info registers' >told
	"$KYMO" dump --json "$kind.tf" >json
	registers=$(grep -m1 '"type":"frame"' json)
	for name in rax rsp rip r15; do
		value=$(awk -v name=$name '$1 == name { print $2 }' told)
		assert_says /dev/stdin "\"$name\":$((value))," <<<"$registers"
	done
done

# ---- copies ----

"$KYMO" export pie.tf -o copy.tf 2>/dev/null
cmp pie.tf copy.tf
"$KYMO" export pie.tf -o copy.tf.zst 2>/dev/null
"$KYMO" dump copy.tf.zst | cmp - <("$KYMO" dump - <pie.tf)
expect_exit 1 "$KYMO" export "$ROOT/tests/fuzz/corpus/fxt-reader/profile" -o no.tf
assert_says "$TMP/stderr" "contains no moments; record them with"
expect_exit 1 "$KYMO" flame pie.tf
assert_says "$TMP/stderr" "it is a GDB trace file"

# ---- parts ----

# cut_to FRAMES LEFT OPTION ...: so many are in the result
cut_to() {
	local frames=$1 left=$2

	shift 2
	expect_exit 0 "$KYMO" cut --force "$@" pie.tf part.tf
	assert_says "$TMP/stderr" " $frames frame"
	assert_says "$TMP/stderr" "; $left w"
	expect_exit 0 "$KYMO" check part.tf
	assert_says "$TMP/stdout" ' 0 errors, 0 warnings'
	assert_eq "$("$KYMO" dump part.tf | grep -c '^frame ')" "$frames"
}
"$KYMO" dump pie.tf >out
tid=$(sed -n '0,/^    \$tid = /s/^    \$tid = //p' out)
cut_to 2 2 --frames=1,3-
assert_eq "$("$KYMO" dump part.tf | grep '\$ts_ns =' | xargs)" '$ts_ns = 1000000 $ts_ns = 3000000'
cut_to 1 3 --tracepoint=2
cut_to 4 0 --tid="$tid"
cut_to 2 2 --from=1ms --to=3ms
cut_to 3 1 --to=@2000001
cut_to 1 3 --from=1ms --tracepoint=1 --frames=0-1 --tid="1,$tid"
expect_exit 1 "$KYMO" cut pie.tf none.tf --tid=1
assert_says "$TMP/stderr" 'no frame matches (of 4)'
[ ! -e none.tf ] || fail "a file without frames is there"
expect_exit 1 "$KYMO" cut pie.tf none.tf --cpu=0
assert_says "$TMP/stderr" '--cpu needs the trace state variable $cpu, which this file does not have'
expect_exit 2 "$KYMO" cut pie.tf none.tf --frames=3-2
expect_exit 2 "$KYMO" cut pie.tf none.tf --tracepoint=x
expect_exit 1 "$KYMO" cut "$ROOT/tests/fuzz/corpus/fxt-reader/profile" none.fxt --frames=1
assert_says "$TMP/stderr" "is not a GDB trace file"

# ---- outputs of the verbs ----

"$KYMO" dump pie.tf >out
assert_line out 'registers 164 bytes, little-endian'
assert_contains out '^map 0x[0-9a-f]*-0x[0-9a-f]* offset 0x0 .*/tfile-target-pie$'
assert_contains out '^    registers rax=0x[0-9a-f]* rbx='
assert_contains out '^    memory 0x[0-9a-f]* <65535 bytes>$'
"$KYMO" summary pie.tf >out
assert_contains out '^dropped: 2 of 6 frames$'
assert_contains out '^ *3 .* 1  0x[0-9a-f]*$'
if command -v gojq >/dev/null; then
	"$KYMO" summary --json pie.tf >summary.json
	"$KYMO" check --json pie.tf >check.json
	"$KYMO" dump --json pie.tf >json
	"$KYMO" cut --json --force --frames=1 pie.tf part.tf >cut.json
	assert_eq "$(gojq -c '[.frames, .registers, .threads, .status.reason, .tracepoints[0].frames]' \
		summary.json)" '[4,4,1,"tstop",3]'
	assert_eq "$(gojq -c '[.frames, .left_out]' cut.json)" '[1,3]'
	assert_eq "$(gojq -s '[.[] | select(.type == "frame")] | length' json)" 4
	assert_documented 'summary of a trace file' summary.json
	assert_documented 'check of a trace file' check.json
	for type in head variable tracepoint description map frame; do
		grep -m1 "^{\"type\":\"$type\"" json >one.json
		assert_documented 'dump of a trace file' one.json
	done
	assert_documented 'frame of a trace file' one.json
	assert_documented 'cut of a trace file' cut.json
fi

# ---- damage ----

size=$(stat -c %s pie.tf)
for part in 1 2 3 5 7; do
	head -c $((size * part / 8)) pie.tf >cut.tf
	expect_exit 3 "$KYMO" dump cut.tf
	assert_says "$TMP/stderr" 'the file ends in the middle of a frame'
	"$KYMO" dump pie.tf >whole
	cmp -n "$(stat -c %s "$TMP/stdout")" "$TMP/stdout" whole
	expect_exit 3 "$KYMO" check cut.tf
	assert_says "$TMP/stdout" 'error tfile-damaged'
	# The rest of it is a file again.
	expect_exit 3 "$KYMO" export --force cut.tf -o mended.tf
	expect_exit 0 "$KYMO" check mended.tf
done
for at in 9 40 200 700 2500 2510 2520 3000 100000; do
	cp pie.tf flipped.tf
	printf '\xff\xff\xff' | dd of=flipped.tf bs=1 seek=$at conv=notrunc status=none
	for verb in dump summary check; do
		status=0
		timeout "$(limit 20)" "$KYMO" $verb flipped.tf >ours 2>stderr || status=$?
		[ $status = 0 ] || [ $status = 3 ] || fail "$verb: exit status $status"
	done
done
expect_exit 3 "$KYMO" check "$ROOT/tests/fuzz/corpus/tfile/includes"
assert_says "$TMP/stderr" 'the description of the target includes other files'
expect_exit 3 "$KYMO" dump "$ROOT/tests/fuzz/corpus/tfile/huge-frame"
assert_contains "$TMP/stderr" 'at byte [0-9]*: a frame has more than 16 MiB'
assert_contains "$TMP/stdout" '^frame 1 tracepoint 1$'
expect_exit 0 "$KYMO" dump "$ROOT/tests/fuzz/corpus/tfile/big"
assert_line "$TMP/stdout" 'registers 8 bytes, big-endian'
assert_line "$TMP/stdout" '    $tid = -2'
expect_exit 3 "$KYMO" check --strict "$ROOT/tests/fuzz/corpus/tfile/unknown-block"
assert_contains "$TMP/stdout" '^warning tfile-unknown-block'
expect_exit 0 "$KYMO" export "$ROOT/tests/fuzz/corpus/tfile/unknown-block" -o part.tf --force
assert_says "$TMP/stderr" '1 frame incomplete: blocks could not be read'
expect_exit 0 "$KYMO" check --explain tfile-no-end
assert_says "$TMP/stdout" 'Premature end of file'

# ---- files of gdbserver ----

command -v gdb >/dev/null || skip "the rest needs gdb"
command -v gdbserver >/dev/null || skip "the rest needs gdbserver"

program=$TARGETS/tfile-target-no-pie
wrapper=
! [ -e "$AGENT" ] || wrapper="--wrapper env LD_PRELOAD=$AGENT --"

# record_theirs: gdbserver writes theirs.tf
record_theirs() {
	cat >record.gdb <<-END
		set confirm off
		file $program
		target remote | gdbserver $wrapper - $program quiet 2>/dev/null
		break main
		continue
		tvariable \$hits = 5
		trace tfile_target_push
		actions
		collect \$regs
		collect \$hits
		collect global, value
		collect *(unsigned char *)\$rsp@512
		end
		passcount 100
		trace tfile_target_compare if global > 10
		actions
		collect \$regs, \$args
		teval \$hits = \$hits + 1
		end
		trace tfile_target_nest
		actions
		while-stepping 2
		collect \$regs
		end
		end
	END
	# (a fast tracepoint is a jump into a library of gdbserver's)
	[ -z "$wrapper" ] || printf '%s\n' 'ftrace *tfile_target_fast' actions "collect \$regs, global" end >>record.gdb
	cat >>record.gdb <<-END
		break exit
		tstart
		continue
		tstop it is enough
		tsave theirs.tf
		kill
	END
	asked record.gdb 'echo recorded' >recorded || { cat recorded; fail "gdbserver recorded nothing"; }
	[ -s theirs.tf ] || { cat recorded; fail "there is no trace file"; }
}

# frame_sizes: the tracepoint of each frame of theirs.tf, and its size
frame_sizes() {
	tail -c "+$(($(sed -n '1,/^$/p' theirs.tf | wc -c) + 1))" theirs.tf | od -An -v -tu1 -w1 | awk '
		{ byte[n++] = $1 }
		END {
			for (i = 0; i + 6 <= n && byte[i] + byte[i + 1] > 0; i += 6 + size) {
				size = byte[i + 2] + 256 * (byte[i + 3] + 256 * byte[i + 4])
				print byte[i] + 256 * byte[i + 1], size
			}
		}'
}

record_theirs
# The fast tracepoint, number 5, collects registers and the 4 bytes of a variable. On some processors
# (AMX), the library of gdbserver 13 has more registers than the file says: no reader knows of these.
registers=$((0x$(sed -n '2,/^$/s/^R \([0-9a-f]*\)$/\1/p' theirs.tf)))
sizes=$(frame_sizes | sed -n 's/^5 //p' | sort -u)
if [ "$wrapper" ] && [ "$sizes" ] && [ "$sizes" != $((1 + registers + 1 + 8 + 2 + 4)) ]; then
	note "no fast tracepoints: gdbserver and its library do not agree about the registers"
	wrapper=
	record_theirs
fi

expect_exit 0 "$KYMO" check --notes theirs.tf
assert_says "$TMP/stdout" ' 0 errors, 0 warnings'
"$KYMO" dump theirs.tf >ours
frames=$(sed -n 's/^status .* tframes=\([0-9]*\) .*/\1/p' ours)
assert_ge "$frames" 16
assert_eq "$(grep -c '^frame ' ours)" "$frames"
assert_contains ours '^status stopped tstop: it is enough '
assert_contains ours '^tracepoint [0-9]* .* passes=100 .* at tfile_target_push$'
assert_contains ours '^    if global > 10$'
assert_contains ours '^    condition <[0-9]* bytes>$'
assert_contains ours '^    step-action R'
assert_contains ours '^    \$hits = 5$'
[ -z "$wrapper" ] || assert_contains ours '^tracepoint [0-9]* .* at \*tfile_target_fast$'

# gdb's output for each frame, of the original and of kymo's copy.
mkdir theirs copy
mv theirs.tf theirs/x.tf
"$KYMO" export theirs/x.tf -o copy/x.tf 2>/dev/null
questions=(tstatus 'info tracepoints' 'info tvariables')
for ((frame = 0; frame < frames; frame++)); do
	questions+=("tfind $frame" 'info registers' bt tdump 'p global' 'info tvariables')
done
questions+=('tfind end' 'tfind tracepoint 1' 'tfind tracepoint 2')
for which in theirs copy; do
	printf '%s\n' "file $program" "cd $which" 'target tfile x.tf' >open.gdb
	asked open.gdb "${questions[@]}" | sed 's|^Working directory .*||' >"$which.answers"
done
assert_ge "$(grep -c '^rip ' theirs.answers)" "$((frames / 2))"
assert_ge "$(grep -c '^#1 .*main' theirs.answers)" 2
diff theirs.answers copy.answers

# kymo and gdb read the same registers.
answer theirs.answers 'info registers' >told
for name in rax rsp rip r15; do
	value=$(awk -v name=$name '$1 == name { print $2 }' told)
	sed -n '/^frame 0 /,/^frame 1 /p' ours | grep " $name=$(printf '0x%x' "$value") " >/dev/null ||
		fail "$name is not $value"
done

# A slice is a file, too.
"$KYMO" cut --force --tracepoint="$(sed -n 's/^tracepoint \([0-9]*\) .* at tfile_target_compare$/\1/p' ours)" \
	theirs/x.tf part.tf 2>/dev/null
printf '%s\n' "file $program" 'target tfile part.tf' >open.gdb
asked open.gdb tstatus 'tfind 0' 'info args' 'tfind 1' >answers || true
assert_says answers 'Collected 1 trace frames.'
answer answers 'info args' >told
assert_contains told '^a = 0x[0-9a-f]*$'
