#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs that write events with Python's package kymo: each event is in the archive, on its own
# thread while that thread ran, with its arguments. Python reads what Python has written. A child
# of fork() is silent until it starts; names beyond the table; a category that is off.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../judge-words.sh"
. "$(dirname "$0")/../pages.sh"
need_command python3
need_btf
export KYMO_PROVIDER_DIR=$TMP/run PYTHONDONTWRITEBYTECODE=1
APP=$ROOT/tests/support/loads/python-app.py

# python ...: with the package of the tree
python() {
	env PYTHONPATH="$ROOT/python" LD_LIBRARY_PATH="$KYMO_BUILD/libkymo:$KYMO_BUILD/provider" python3 "$@"
}
app=(env PYTHONPATH="$ROOT/python" LD_LIBRARY_PATH="$KYMO_BUILD/libkymo:$KYMO_BUILD/provider" python3 "$APP")

# made: prints the number of events that the recorded program has made
made() {
	grep -x '[0-9]*' "$TMP/stdout"
}

# read_events FILE: writes "KIND CATEGORY NAME ARGUMENTS" of the events of the program to $TMP/read
read_events() {
	python - "$1" >"$TMP/read" <<-'END'
		import sys, kymo
		with kymo.open(sys.argv[1]) as archive:
		    for event in archive:
		        if event.category == "py_load" or event.kind == kymo.Kind.LOG:
		            print(event.kind.name, event.category, event.name, event.arguments)
	END
}

# ---- threads, beside the schedule ----

record_whole() {
	record_around "$TMP/whole.fxt" -b 16M -e sched,app:py_load -- "${app[@]}" threads 4 250
	made >"$TMP/made"
}
# (a switch that the kernel hides makes a thread run on another CPU, or not at all)
judge_whole() {
	assert_eq "$(<"$TMP/made")" 6000 "events that the program has made"
	expect_exit 0 python "$ROOT/tests/support/checkers/python-inside.py" "$TMP/whole.fxt" py_load
	assert_eq "$(<"$TMP/stdout")" "6000 6000" "events, and those inside of a slice of their thread"
	check_results "$TMP/whole.fxt"
	# (a slice for each span and each instant)
	slices_within_schedule "$TMP/whole.fxt" py_load 3000 4
}
record_and_judge "$TMP/whole.fxt" record_whole judge_whole

# Each thread says which one it is. (Its name can come after its first events.)
python - "$TMP/whole.fxt" >"$TMP/wrong" <<-'END'
	import sys, kymo
	with kymo.open(sys.argv[1]) as archive:
	    threads = set()
	    for event in archive.events([kymo.Kind.INSTANT]):
	        if event.category == "py_load":
	            threads.add(event.thread)
	            if event.arguments["thread"] != kymo.tid(event.thread):
	                print(event)
	    names = [archive.thread_name(thread) for thread in threads]
	    if names != ["py-worker"] * 4:
	        print(names)
END
assert_empty "$TMP/wrong" "events of other threads"

# The example counts the switches that the command finds.
expect_exit 0 python "$ROOT/examples/python-switches.py" "$TMP/whole.fxt"
dump_records "$TMP/whole.fxt"
assert_eq "$(sed -n 1p "$TMP/stdout")" "$(grep -c '"record":"context_switch"' "$DUMP") switches"
# (the last wakeup of a thread before a switch to it)
grep -E '"record":"(context_switch|thread_wakeup)"' "$DUMP" |
	gojq -r '[.timestamp_ns, .record, .incoming_thread_id // .waking_thread_id] | @tsv' |
	awk -F '\t' '$2 == "thread_wakeup" { woken[$3] = $1; next }
		$3 in woken { print $1 - woken[$3]; delete woken[$3] }' | sort -rn | sed -n 1,5p >"$TMP/worst"
assert_eq "$(wc -l <"$TMP/worst")" 5 "worst wakeups"
sed -n 's/^\([0-9]*\) ns .*/\1/p' "$TMP/stdout" | diff "$TMP/worst" - >&2 || fail "the example has other wakeups"

# ---- each kind, and each type ----

expect_exit 0 "$KYMO" record --direct -b 16M -e 'sched,app:py_*' -o "$TMP/kinds.fxt" -- "${app[@]}" kinds
assert_eq "$(made)" 31
read_events "$TMP/kinds.fxt"
# (two are lost, since they are too large, and the log has no category)
assert_eq "$(grep -c ' py_load ' "$TMP/read")" 28 "events"
assert_line "$TMP/read" "INSTANT py_load types {'null': None, 'yes': True, 'no': False, 'zero': 0, 'small': -5, 'least32': -2147483648, 'below32': -2147483649, 'big': 1099511627776, 'least': -9223372036854775808, 'most': 18446744073709551615, 'beyond': '18446744073709551616', 'real': 3.141592653589793}"
assert_says "$TMP/read" "'text': 'naïve', 'surrogate': 'a?', 'empty': '', 'nul': 'a\\x00b', 'raw': b'\\x00\\xff', 'buffer': b'xy', 'long': 'zzz"
assert_says "$TMP/read" "'silent': '<Silent>', 'some': '[1, 2]', 'digits': '0x1000"
assert_line "$TMP/read" "FLOW_END py_load flow {'last': True}"
assert_eq "$(grep -c '^ASYNC_BEGIN py_load job ' "$TMP/read")" 2
assert_eq "$(grep -c '^DURATION_END py_load again ' "$TMP/read")" 2
assert_eq "$(grep -c "^DURATION_BEGIN py_load decorated {'by': 'a decorator'}" "$TMP/read")" 3
assert_eq "$(grep -c '^DURATION_COMPLETE py_load whole ' "$TMP/read")" 1
assert_eq "$(grep -c '^DURATION_END py_load fails ' "$TMP/read")" 1
assert_says "$TMP/read" "a line of a log"
summarize "$TMP/kinds.fxt"
assert_eq "$(json "$SUMMARY" '.lost.app')" 2 "records that are too large"

# ---- wrong types ----

record_around "$TMP/odd.fxt" -e app -- "${app[@]}" odd
assert_eq "$(made)" 16
read_events "$TMP/odd.fxt"
for name in 1 True "['list']" name "'key'" '<Silent>'; do
	assert_line "$TMP/read" "INSTANT py_load $name {}"
done
assert_eq "$(grep -cF "INSTANT py_load ['list'] " "$TMP/read")" 2
assert_says "$TMP/read" "INSTANT py_load view {'view': b'<released memory at "
assert_line "$TMP/read" "LOG  'log' {}"
assert_line "$TMP/read" "LOG  17 {}"
assert_line "$TMP/read" "LOG  None {}"

# ---- names beyond the table ----

record_around "$TMP/names.fxt" -e app -- "${app[@]}" names
read_events "$TMP/names.fxt"
for n in 0 1 2 3 4; do
	assert_line "$TMP/read" "INSTANT py_load name-$n {'argument-$n': $n}"
done
assert_eq "$(grep -c '^INSTANT py_load n\{2000\} ' "$TMP/read")" 1 "a long name"
expect_exit 0 "$KYMO" check "$TMP/names.fxt"
assert_says "$TMP/stdout" "0 errors, 1 warning"
assert_says "$TMP/stdout" "warning name-long"

# ---- a child, and a category that is off ----

record_around "$TMP/fork.fxt" -e app -- "${app[@]}" fork
read_events "$TMP/fork.fxt"
assert_eq "$(cut -d ' ' -f 3 "$TMP/read" | sort | uniq -c | tr -s ' \n' ' ')" " 1 child-after 2 parent "
record_around "$TMP/off.fxt" -e app:py_load -- "${app[@]}" off
read_events "$TMP/off.fxt"
assert_empty "$TMP/read"

# ---- the example of kymo-python(3) ----

page_example "$ROOT/docs/kymo-python.3" 1 >"$TMP/sums.py"
read -r _ _ options <<<"$(page_example "$ROOT/docs/kymo-python.3" 2)"
# shellcheck disable=SC2086 # options
(
	cd "$TMP" || exit
	export PYTHONPATH=$ROOT/python LD_LIBRARY_PATH=$KYMO_BUILD/libkymo:$KYMO_BUILD/provider
	expect_exit 0 "$KYMO" record --direct $options
)
page_example "$ROOT/docs/kymo-python.3" 3 >"$TMP/reader.py"
(cd "$TMP" && expect_exit 0 python reader.py)
assert_line "$TMP/stdout" "100 sums"
check_results "$TMP/sums.fxt"
