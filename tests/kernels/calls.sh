#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Calls of functions, and system calls. The kind of the probes on functions depends on the kernel.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/words.sh"
need_btf

# calls WORD ...: runs `kymo calls` with these words, and stores its output in $TMP/calls
calls() {
	"$KYMO" calls --direct --json "$@" >"$TMP/calls" 2>"$TMP/stderr" || fail "exit status $?: $(cat "$TMP/stderr")"
}

# count FILTER: prints the number of calls in $TMP/calls that FILTER selects
count() {
	gojq -c "select($1)" "$TMP/calls" | wc -l
}

calls --call "$FUNCTION_LOAD:deep(int n) -> int" -- "$FUNCTION_LOAD" deep 200
fact "recursion: $(count .) calls, $(count '.return == .arguments.n and .left_by == null') returned what they should"
calls --call "$FUNCTION_LOAD:step(int n) -> int if \$n < 200" -- "$FUNCTION_LOAD" threads
fact "threads: $(count .) calls, $(count '.return == .arguments.n + 1') returned what they should"
calls --call "$FUNCTION_LOAD:jump_*(int n)" -- "$FUNCTION_LOAD" jump
fact "longjmp: $(count .) calls, $(count '.left_by == "unwound"') unwound"
calls --fast-returns --call "$FUNCTION_LOAD:deep(int n) -> int" -- "$FUNCTION_LOAD" deep 50
fact "return probes: $(count .) calls, $(count '.return == .arguments.n and .left_by == null') returned what they should"
calls --call 'syscall:openat' --call 'syscall:read' --call 'libc.so.6:open' -- "$FUNCTION_LOAD" files
gojq -r 'select((.arguments.path // "") | test("hostname|nonexistent")) |
	"\(.function) \(.arguments | del(.mode) | tojson) \(.return | if type == "number" then . > 0 else . end)"' "$TMP/calls" |
	sort | facts
calls --call "$FUNCTION_LOAD:usdt:kymotest:guarded" -- "$FUNCTION_LOAD" guarded 30
fact "a static probe with a semaphore: $(count .) passes, the last with $(gojq -s 'sort_by(.timestamp_ns)[-1].arguments.arg1' "$TMP/calls")"
