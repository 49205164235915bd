#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A stack that could not be walked reliably shows which of its frames are in doubt, and why: by
# frame pointers, and by tables if functions are not described.

. "$(dirname "$0")/../lib.sh"
need_btf
[ "$(uname -m)" = x86_64 ] || skip "the load is written for x86-64"

# stack BYTES: prints for each frame the function, whether it is in doubt, and the call's target,
# one per row. Also prints whether the stack is complete.
stack() {
	gojq -r --argjson bytes "$1" '.processes[].leaks[] | select(.bytes == $bytes) |
		(.frames[] | select(.function | startswith("__libc") | not) |
			"\(.function) \(.uncertain) \(.calls)"), "complete \(.stack_complete)"' "$TMP/stdout"
}

# look HOW: records and reports with stacks of kind HOW
look() {
	note "stacks by $1"
	expect_exit 0 "$KYMO" leaks --direct --stacks "$1" -e memory -o "$TMP/$1.fxt" -- "$DOUBT_LOAD"
	cp "$TMP/stdout" "$TMP/report"
	expect_exit 0 "$KYMO" leaks --json "$TMP/$1.fxt"
}

# check BYTES: checks that the stack of the block equals standard input
check() {
	diff - <(stack "$1") >&2 || fail "the stack of $1 bytes is not as it should be (<)"
}

look fp
note "two functions that jump to malloc()"
check 1001 <<-END
	main true jumps_first
	complete true
END
check 1002 <<-END
	main true jumps_second
	complete true
END

note "a function that is missed"
check 1003 <<-END
	frameless false null
	main true missed
	complete true
END

note "a frame that is none"
check 1004 <<-END
	clobbers false null
	bogus true below
	complete false
END

note "nothing is in doubt"
check 1005 <<-END
	right false null
	main false null
	complete true
END

note "the report says so, too"
assert_contains "$TMP/report" '^      \? main  .* \(calls jumps_first\)$' "the frame that has jumped on"
assert_contains "$TMP/report" '^      \? bogus .*\(calls below\)$' "the frame that is none"
assert_eq "$(grep -c 'callers unknown' "$TMP/report")" 1 "stacks that are not whole"
assert_eq "$(grep -c '^      ? ' "$TMP/report")" 5 "doubts"

look eh
note "where each function is described, its callers are known to where the program begins"
check 1001 <<-END
	main true jumps_first
	_start false null
	complete true
END
check 1002 <<-END
	main true jumps_second
	_start false null
	complete true
END
check 1005 <<-END
	right false null
	main false null
	_start false null
	complete true
END

note "where one is described by nothing, frame pointers are followed"
