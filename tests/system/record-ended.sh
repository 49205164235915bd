#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A recording of processes ends with the last of them, also if that is a child whose parent has
# ended. With -d, it can end earlier.

. "$(dirname "$0")/../lib.sh"
need_btf

# Each process ends when its standard input ends.
mkfifo "$TMP/first" "$TMP/second" "$TMP/child"
cat <"$TMP/first" >/dev/null &
first=$!
exec 5>"$TMP/first"
cat <"$TMP/second" >/dev/null 5>&- &
second=$!
exec 6>"$TMP/second"
# shellcheck disable=SC2016 # for the other shell
bash -c 'cat <"$1" >/dev/null 5>&- 6>&- & echo $! >"$2"; read -r' - "$TMP/child" "$TMP/child.pid" \
	<"$TMP/first" 5>&- 6>&- &
parent=$!
exec 7>"$TMP/child"
expect_soon 10 test -s "$TMP/child.pid"
child=$(cat "$TMP/child.pid")

# (it may have no events of these processes, which wait)
expect_exit "0|3" "$KYMO" record --direct -o "$TMP/bounded.fxt" -d 1 -p "$first,$second"
! grep -q 'selected processes have ended' "$TMP/stderr" || fail '-d did not end the recording'

"$KYMO" record --direct -o "$TMP/t.fxt" -p "$first,$second,$parent" 2>"$TMP/report" 5>&- 6>&- 7>&- &
recorder=$!
grown() {
	[ "$(stat -c %s "$TMP/t.fxt" 2>/dev/null || echo 0)" -gt 4096 ]
}
expect_soon 30 grown
exec 5>&-
wait "$first" "$parent" || true
exec 6>&-
wait "$second"
exec 7>&-
wait "$recorder"
assert_says "$TMP/report" "$TMP/t.fxt: ended, since the selected processes have ended" "a message"

# It has the end of the child, which came last.
summarize "$TMP/t.fxt"
for pid in $first $second $parent $child; do
	holds "$SUMMARY" ".processes[] | select(.pid == $pid) | .exit_code != null" ||
		fail "the end of process $pid is missing"
done
