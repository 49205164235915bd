#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Threads that wait since before the recording: their stacks are whole, if the pages of the stacks
# are in memory, or were never used.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command gcc
[ "$(uname -m)" = x86_64 ] || skip "the memory of other processes is read on x86-64 only"

gcc -D_GNU_SOURCE -g -O1 -fno-stack-clash-protection -pthread -o "$TMP/wait-pages-load" \
	"$ROOT/tests/support/loads/wait-pages-load.c"
mkfifo "$TMP/go"
"$TMP/wait-pages-load" <"$TMP/go" >"$TMP/told" &
load=$!
exec 7>"$TMP/go"
# The parent has three threads, and its child has one.
all_wait() {
	local child
	child=$(cat "/proc/$load/task/$load/children")
	[ -n "$child" ] || return 1
	[ "$(cat "/proc/$load/task/"*/wchan "/proc/${child// /}/wchan" |
		{ grep -o pipe || true; } | wc -l)" = 4 ]
}
expect_soon 20 all_wait
kill -USR1 $load
expect_soon 20 [ -s "$TMP/told" ]
expect_soon 20 all_wait
expect_exit 0 "$KYMO" record --direct -e offcpu -p $load -o "$TMP/pages.fxt" -- sleep 0.2
exec 7>&-
wait $load
expect_exit 0 "$KYMO" flame --off-cpu "$TMP/pages.fxt" --format folded -o -
# has_stack FRAMES WHAT: there is one stack with these frames, separated by semicolons
has_stack() {
	assert_eq "$(grep -c ";$1;" "$TMP/stdout")" 1 "stacks with $2"
}
has_stack 'main;above_fork;in_parent' "pages that were written before a fork"
has_stack 'main;above_fork;in_child' "pages that a child has from its parent"
has_stack 'hidden_thread;above_hidden;in_hidden' "pages that the process must not use"
has_stack 'empty_thread;above_empty;in_empty' "pages that were never used"
