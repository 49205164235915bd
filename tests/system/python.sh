#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Functions of Python in stacks: those that the program itself sees, with their shares, lines and
# files; in interpreters whose memory is damaged, that are killed, or that are not known.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../judge-words.sh"
need_btf
need_command readelf
[ "$(uname -m)" = x86_64 ] || skip "functions of Python are for x86-64"
PYTHON=/usr/bin/python3.11
[ -x "$PYTHON" ] || skip "there is no $PYTHON"
LOADS=$ROOT/tests/support/loads
LOAD=$LOADS/python-load.py
EVAL=_PyEval_EvalFrameDefault
INCLUDE=/usr/include/python3.11
# No compiled modules of others are used, or written.
export PYTHONDONTWRITEBYTECODE=1
unset PYTHONHOME PYTHONPATH

callback=()
if command -v gcc >/dev/null && [ -e "$INCLUDE/internal/pycore_frame.h" ]; then
	note "the layout is that of the headers"
	gcc -I"$ROOT" -I"$INCLUDE" -I"$INCLUDE/internal" -o "$TMP/layout" "$LOADS/python-layout.c"
	expect_exit 0 "$TMP/layout"
	gcc -O2 -shared -fPIC -I"$INCLUDE" -o "$TMP/callback.so" "$LOADS/python-callback.c"
	callback=("$TMP/callback.so")
else
	note "not tested: the layout, and a module in C (no headers of Python 3.11)"
fi

# ---- all frames of calls ----

# calls_with_stacks COMMAND ...: the calls of getpgid and getppid
calls_with_stacks() {
	"$KYMO" calls --direct --json --stack-trace --call syscall:getpgid --call syscall:getppid -- "$@" \
		>"$TMP/calls" 2>"$TMP/stderr"
}

# The last calls have functions of Python, so the tables of all files exist.
all_have_functions() {
	tail -n 101 "$TMP/calls" | sed '$d' |
		holds - 'length == 100 and all(.[]; any(.stack[]?; .module == null and .function != null))' -s
}

# compare_with_truth: the frames of Python are those that faulthandler sees
compare_with_truth() {
	rm -f "$TMP/go" "$TMP/truth"
	calls_with_stacks "$PYTHON" "$LOADS/python-truth.py" "$TMP/go" "$TMP/truth" "${callback[@]}" &
	expect_soon 60 all_have_functions
	touch "$TMP/go"
	wait $! || fail "exit status $?: $(cat "$TMP/stderr")"
	gojq -sr 'map(select(.function == "getppid")) | sort_by(.timestamp_ns)[] |
		[.stack[]? | select(.module == null) | "\(.source):\(.line) \(.function | split(".") | last)"] |
		join(" ")' "$TMP/calls" >"$TMP/is"
	diff "$TMP/truth" "$TMP/is" >"$TMP/difference"
}

note "the functions that the program itself sees"
for n in 1 2 3; do
	! compare_with_truth || break
	{ grep -q ' lost' "$TMP/stderr" && [ $n -lt 3 ]; } ||
		fail "the program (<) sees other functions than kymo (>): $(cut -c1-600 "$TMP/difference")"
	note "disturbed (try $n): $(grep ' lost' "$TMP/stderr" | tail -n 1)"
done
note "equal: $(wc -l <"$TMP/truth") stacks with $(grep -o '\.py:\|>:' "$TMP/truth" | wc -l) functions"
assert_ge "$(wc -l <"$TMP/truth")" 65 "stacks"
assert_ge "$(grep -c ' cancelled .* cancelled ' "$TMP/truth")" 1 "stacks in cancelled tasks"

note "functions are directly before the interpreter that executes them"
gojq -r --arg eval "$EVAL" 'select(.function == "getppid") | [.stack[]?] | . as $s | range(length) |
	select($s[.].module == null and ($s[. + 1] | . == null or (.module != null and .function != $eval))) |
	$s[.].function' "$TMP/calls" >"$TMP/misplaced"
assert_eq "$(cat "$TMP/misplaced")" "" "functions in other places"

# ---- samples ----

# take [record option ...] -- HOW MS [ARGUMENT]: records the load, whose truth is then in $TMP/truth.json.
take() {
	local options=()

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	record_around "$TMP/python.fxt" "${options[@]}" -- "$PYTHON" "$LOAD" "$@"
	grep leaf_ns "$TMP/stdout" >"$TMP/truth.json" || true
}

# fold [option ...]: the stacks of the archive in $TMP/stacks, a line for each: its functions from the
# outermost one on, then a number
fold() {
	expect_exit 0 "$KYMO" flame "$@" --process python3.11 --format folded -o - "$TMP/python.fxt"
	cp "$TMP/stdout" "$TMP/stacks"
}

# counted PATTERN: the sum of the stacks that match
counted() {
	{ grep -E -e "$1" "$TMP/stacks" || true; } | awk '{ n += $NF } END { print n + 0 }'
}

named_leaf() {
	counted ";$1;spin"
}

note "shares and places"
stolen=$(stolen_ns cpu)
# (other programs in Python, such as the one that runs the tests, are not counted)
take -e profile -F 997 --comm python3.11 -- shares 2000
stolen=$(($(stolen_ns cpu) - stolen))
fold
all=$(counted ';spin[; ]')
assert_ge "$all" 200 "samples in functions of Python"
assert_leaf_shares named_leaf "$all" "$stolen"
base="$EVAL;<module>;main;chain_1;chain_2"
for way in ";Caller.from_python;leaf_a;spin" ";Caller.from_c;.*$EVAL;Caller.reducer;leaf_b;spin" \
	";.*$EVAL;Caller.generator;leaf_c;spin"; do
	n=$(counted "$base$way")
	leaf=$(grep -o 'leaf_.' <<<"$way" | sort -u)
	assert_ge $((100 * n)) $((98 * $(named_leaf "$leaf"))) "samples of $leaf in its place"
done
summarize "$TMP/python.fxt"
assert_ge "$(json "$SUMMARY" .python.stacks)" "$all" "stacks with functions of Python"
assert_eq "$(json "$SUMMARY" '.python.unknown | tojson')" '[]' "unknown versions"
# (imports at the start can have more frames than a stack has room for)
assert_le "$(json "$SUMMARY" '.python.full')" $((all / 10)) "stacks at the limit"
# (a busy machine can let a ring fill up)
assert_le "$(json "$SUMMARY" '.python.unnamed')" $((all / 50)) "functions without a name"
expect_exit 0 "$KYMO" summary "$TMP/python.fxt"
assert_contains "$TMP/stdout" '^functions of Python: [0-9]+ stacks' "summary"
check_finds_nothing "$TMP/python.fxt"

note "without the interpreter"
fold --python
assert_ge $((100 * $(counted "<module>;main;chain_1;chain_2;Caller.from_c;Caller.reducer;leaf_b;spin"))) \
	$((98 * $(named_leaf leaf_b))) "samples of leaf_b"
assert_eq "$(counted "$EVAL")" 0 "samples in the interpreter"

note "lines and files"
expect_exit 0 "$KYMO" dump "$TMP/python.fxt"
line=$(awk '/^def leaf_b/ { print NR + 1 }' "$LOAD")
assert_ge "$(grep -c "event profile:frame .* function=\"leaf_b\" source=\"$LOAD\" line=$line " "$TMP/stdout")" 1 \
	"names of leaf_b with its line"

note "an interpreter in the interpreter"
take -e profile -F 997 -- other 1000
fold
assert_ge $((100 * $(counted ";<module>;main;.*$EVAL;<module>;.*<module>;main;chain_1;chain_2;.*;spin"))) \
	$((98 * $(counted ';spin[; ]'))) "samples in both interpreters"

note "threads"
take -e profile -F 997 -- threads 1000
fold
for leaf in leaf_a leaf_b leaf_c; do
	assert_ge "$(counted "Thread._bootstrap.*;Thread.run;(.*$EVAL;)?repeat;$leaf;spin")" 1 \
		"samples of $leaf in its thread"
done

if [ ${#callback[@]} = 1 ]; then
	note "a state of one thread that another one uses"
	take -e profile -F 997 -- lends 1000 "${callback[0]}"
	fold
	# (the first stacks of the module are copied)
	assert_ge $((2 * $(counted ';<module>;main;lend;.*callback_lend'))) "$(counted callback_lend)" \
		"samples of the thread that lends its state"
	assert_ge "$(counted callback_lend)" 100 "samples of the thread that lends its state"
	assert_eq "$(counted 'leaf_a.*callback_lend')" 0 "samples with functions of the other thread"
fi

note "tasks"
take -e profile -F 997 -- tasks 1000
fold
for leaf in leaf_a leaf_b leaf_c; do
	assert_ge "$(counted "Handle._run;.*$EVAL;task;$leaf;spin")" 1 "samples of $leaf in its task"
done

note "waits"
take -e offcpu -- waits 500
fold --off-cpu
assert_ge "$(counted "$EVAL;<module>;main;Caller.sleeper;.*nanosleep")" 400000000 "ns in the method"

note "allocations"
take -e memory -- allocates 500
expect_exit 0 "$KYMO" dump "$TMP/python.fxt"
assert_ge "$(grep -c 'event profile:frame .* function="Caller\.keeper"' "$TMP/stdout")" 1 \
	"names of the method that allocates"
if [ ${#callback[@]} = 1 ]; then
	note "a leak in a module in C"
	take -e memory -- leaks 0 "${callback[0]}"
	expect_exit "0|1" "$KYMO" leaks --json "$TMP/python.fxt"
	line=$(awk '/module.leak\(/ { print NR }' "$LOAD")
	holds "$TMP/stdout" "any(.. | objects | select(.function? == \"lose\"); .line == $line)" ||
		fail "the line that calls the module is not in the report"
fi

# ---- damaged memory ----

# The last calls in the growing archive have functions of Python, so the tables of all files exist.
hostile_has_functions() {
	"$KYMO" calls --json --stack-trace "$TMP/hostile.fxt" >"$TMP/calls" 2>/dev/null || true
	all_have_functions
}

# record_hostile HOW: records the program, which damages its memory when its calls have functions. The
# recording is repeated like that of record_around.
record_hostile() {
	local n pid

	for n in 1 2 3; do
		rm -f "$TMP/go" "$TMP/hostile.fxt"
		"$KYMO" record --direct --force -o "$TMP/hostile.fxt" -e calls,call-stacks \
			--call syscall:getpgid --call syscall:getppid -- \
			"$PYTHON" "$LOADS/python-hostile.py" "$1" 2000 "$TMP/go" >"$TMP/alive" 2>"$TMP/messages" &
		pid=$!
		expect_soon 60 hostile_has_functions
		touch "$TMP/go"
		wait $pid || fail "exit status $?: $(cat "$TMP/messages")"
		cp "$TMP/messages" "$TMP/stderr"
		something_was_lost >/dev/null || return 0
		note "disturbed (try $n): $(something_was_lost | tail -n 1)"
	done
	nothing_lost
}

# first_functions FILE: the two innermost functions of Python of each call that damaged memory, and the
# other ones
first_functions() {
	"$KYMO" calls --json --stack-trace --function getppid "$1" >"$TMP/calls"
	gojq -c '[.stack[]? | select(.module == null) | .function // ""] | .[:2]' "$TMP/calls" | sort | uniq -c
	gojq -r '.stack[2:][]? | select(.module == null) | .function // ""' "$TMP/calls" | sort -u >"$TMP/others"
}

replaced=$'\357\277\275' # U+FFFD
for how in forge random; do
	note "memory of an interpreter that is damaged: $how"
	record_hostile $how
	assert_eq "$(cat "$TMP/alive")" alive "the interpreter"
	check_finds_nothing "$TMP/hostile.fxt"
	first_functions "$TMP/hostile.fxt" >"$TMP/first"
	assert_eq "$(sed 's/^ *[0-9]* //' "$TMP/first")" '["leaf","with_caller"]' "true functions before the forged ones"
	# (a forged text can be a name: of eight zeros)
	[ $how = random ] || assert_eq "$(grep -cvxE \
		"leaf|with_caller|main|<module>|frame|\\[(unknown function|missing functions) of Python\\]|($replaced)*" \
		"$TMP/others")" 0 "false functions"
done

note "memory of an interpreter that is damaged: loop"
record_around "$TMP/python.fxt" -e profile -F 997 -- "$PYTHON" "$LOADS/python-hostile.py" loop 1000
assert_eq "$(cat "$TMP/stdout")" alive "the interpreter"
check_finds_nothing "$TMP/python.fxt"
fold
assert_ge "$(counted ';\[missing functions of Python\](;with_caller){50,};spin')" 1 "samples in the loop"
summarize "$TMP/python.fxt"
assert_ge "$(json "$SUMMARY" .python.full)" 1 "stacks at the limit"

# ---- ends, and other versions ----

note "a killed interpreter"
# shellcheck disable=SC2016 # for the other shell
record_around "$TMP/python.fxt" -e sched,profile -F 997 -- sh -c '"$@" || true' sh "$PYTHON" "$LOAD" killed 1000
check_finds_nothing "$TMP/python.fxt"
fold
assert_ge "$(counted "Thread.run;(.*$EVAL;)?repeat;leaf_a;spin")" 1 "samples"
expect_exit 0 "$KYMO" dump "$TMP/python.fxt"
assert_ge "$(grep -c 'event process:exit .* signal=9' "$TMP/stdout")" 1 "ends by a signal"

note "an unknown version"
mkdir "$TMP/bin"
"$PYTHON" - "$PYTHON" "$TMP/bin/python3.11" <<-'END'
	import sys

	data = open(sys.argv[1], "rb").read()
	known, other = (n.to_bytes(8, "little") for n in (sys.hexversion, 0x030E02F0))
	assert data.count(known) == 1
	open(sys.argv[2], "wb").write(data.replace(known, other))
END
chmod +x "$TMP/bin/python3.11"
record_around "$TMP/python.fxt" -e profile -F 997 -- \
	env PYTHONHOME=/usr "$TMP/bin/python3.11" "$LOAD" shares 1000
expect_exit 0 "$KYMO" summary "$TMP/python.fxt"
assert_line "$TMP/stdout" 'frames of Python 3.14.2 are not known' "summary"
fold
assert_says "$TMP/stderr" 'frames of Python 3.14.2 are not known' "flame"
assert_ge "$(counted "$EVAL")" 100 "samples in the interpreter"
# (other programs of Python can run meanwhile, as meson does, so the number of all stacks says nothing)
assert_eq "$(counted 'chain_1|<module>|\[.* of Python\]')" 0 "samples in functions of Python"
