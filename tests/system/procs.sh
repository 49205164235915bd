#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 2,000 processes that live a few milliseconds: each has its last name, its parent and its exit
# code.

. "$(dirname "$0")/../lib.sh"
need_btf

n=2000
record_around "$TMP/t.fxt" -- "$KYMO_LOAD" --out "$TMP/truth.json" procs $n
note "$(json "$TMP/truth.json" '"longest life \(.longest_ns / 1e6) ms, \(.over_5ms) over 5 ms"')"
summarize "$TMP/t.fxt"
assert_no_loss

# Truth and trace as sorted rows. Rows that are only in the truth are missing or wrong in the trace.
json "$TMP/truth.json" '.children[] | [.pid, .ppid, .name, .exit_code] | @tsv' | sort >"$TMP/truth"
json "$SUMMARY" '.processes[] | [.pid, .parent, .name, .exit_code] | @tsv' | sort >"$TMP/trace"
assert_eq "$(wc -l <"$TMP/truth")" $n "processes in the truth"
comm -23 "$TMP/truth" "$TMP/trace" >"$TMP/missing"
assert_empty "$TMP/missing" "processes without their name, parent or exit code"

parent=$(json "$TMP/truth.json" .pid)
assert_eq "$(json "$SUMMARY" ".processes[] | select(.pid == $parent) | .name")" kymo-load \
	"the parent's name"
assert_ge "$(json "$SUMMARY" .events.fork)" $n "forks"
assert_ge "$(json "$SUMMARY" .events.exit)" $n "exits"
assert_ge "$(json "$SUMMARY" .events.exec)" \
	"$(json "$TMP/truth.json" '[.children[] | select(.execs)] | length')" "execs"

# Processes with an exec have the command line of the exec, the others that of their parent.
child=$(json "$TMP/truth.json" '[.children[] | select(.execs)][0] | .pid')
json "$SUMMARY" ".processes[] | select(.pid == $child) | .command_line" >"$TMP/command_line"
assert_contains "$TMP/command_line" 'kymo-load child short0 1000 0$' "command line of an exec"
