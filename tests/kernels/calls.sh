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

# count FUNCTION [FILTER]: prints the number of calls of functions in $TMP/calls whose names begin
# with FUNCTION, and that FILTER selects
count() {
	gojq -c --arg name "$1" "select(.function | startswith(\$name)) | select(${2:-true})" "$TMP/calls" | wc -l
}

# (In one recording, since an emulated CPU takes seconds to begin and to end one.)
# shellcheck disable=SC2016 # it is another shell's
calls --call "$FUNCTION_LOAD:deep(int n) -> int" --call "$FUNCTION_LOAD:step(int n) -> int if \$n < 200" \
	--call "$FUNCTION_LOAD:jump_*(int n)" --call 'syscall:openat' --call 'syscall:read' --call 'libc.so.6:open' \
	--call "$FUNCTION_LOAD:usdt:kymotest:guarded" \
	-- bash -c '"$0" deep 200 && "$0" threads && "$0" jump && "$0" files && "$0" guarded 30' "$FUNCTION_LOAD"
fact "recursion: $(count deep) calls, $(count deep '.return == .arguments.n and .left_by == null') returned what they should"
fact "threads: $(count step) calls, $(count step '.return == .arguments.n + 1') returned what they should"
fact "longjmp: $(count jump_) calls, $(count jump_ '.left_by == "unwound"') unwound"
gojq -r 'select((.arguments.path // "") | test("hostname|nonexistent")) |
	"\(.function) \(.arguments | del(.mode) | tojson) \(.return | if type == "number" then . > 0 else . end)"' "$TMP/calls" |
	sort | facts
fact "a static probe with a semaphore: $(count kymotest) passes, the last with $(gojq -s \
	'map(select(.function | startswith("kymotest"))) | sort_by(.timestamp_ns)[-1].arguments.arg1' "$TMP/calls")"
calls --fast-returns --call "$FUNCTION_LOAD:deep(int n) -> int" -- "$FUNCTION_LOAD" deep 50
fact "return probes: $(count deep) calls, $(count deep '.return == .arguments.n and .left_by == null') returned what they should"
