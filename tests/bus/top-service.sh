#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kymo top through the service.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus

start_bus
start_kymod
remember_bpf

no_sessions() {
	[ -z "$("$KYMO" list --bus "$BUS")" ]
}

"$STACK_LOAD" chain 60000 >/dev/null &
load=$!
expect_soon 5 grep -qx stack-load "/proc/$load/comm"
expect_exit "0|3" timeout 60 "$KYMO" top --bus "$BUS" --json -n 3 -i 500ms
assert_eq "$(wc -l <"$TMP/stdout")" 3 "lines of -n 3"
tail -1 "$TMP/stdout" >"$TMP/last.json"
assert_contains <(jq -r '.functions[] | select(.process == "stack-load") | .name' "$TMP/last.json" | head -3) \
	'^leaf_a$' "hottest functions of the load"
# What recording costs is not hidden.
assert_eq "$(json "$TMP/last.json" '[.processes[] | select(.pid == '"$KYMOD_PID"')] | length')" 1 "the service"
expect_soon 5 no_sessions

# While it runs there is a session that anybody may look at; it goes with its owner, whatever that dies of.
rm -f "$TMP/top.json"
"$KYMO" top --bus "$BUS" --json >"$TMP/top.json" 2>"$TMP/stderr" &
pid=$!
expect_soon 20 test -s "$TMP/top.json"
session_is_running "top_$pid" || fail "there is no session top_$pid"
kill -KILL $pid
expect_soon 10 no_sessions

# The service ends: so does the view, after what was recorded.
rm -f "$TMP/top.json"
"$KYMO" top --bus "$BUS" --json >"$TMP/top.json" 2>"$TMP/stderr" &
pid=$!
expect_soon 20 test -s "$TMP/top.json"
stop_kymod
expect_soon 20 has_ended $pid
kill $load
no_bpf_left "the service"

# Without a service there is a complaint, if one was asked for.
expect_exit 1 "$KYMO" top --bus "$BUS" -n 1
assert_contains "$TMP/stderr" '^kymo top: ' "complaint"
