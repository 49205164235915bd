#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A recording of processes ends with the last of them, also if that is a child whose parent has
# ended, and if none lives when it begins. With -d, it can end earlier.

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

note "the number of selected processes that live"
expect_exit 0 "$PIDS_LIVE"

note "a chain of processes that each fork the next one and exit"
mkfifo "$TMP/go"
# shellcheck disable=SC2016 # for the other shell
bash -c 'follow() {
	(($1)) || { echo "$BASHPID" >"$2" && exit; }
	follow $(($1 - 1)) "$2" &
	exit
}
read -r _
follow 200 "$0"' "$TMP/last" <"$TMP/go" &
begin=$!
exec 5>"$TMP/go"
"$KYMO" record --direct -o "$TMP/chain.fxt" -p $begin 2>"$TMP/report" 5>&- &
recorder=$!
has_begun() {
	[ "$(stat -c %s "$TMP/chain.fxt" 2>/dev/null || echo 0)" -gt 4096 ]
}
expect_soon 30 has_begun
echo >&5
exec 5>&-
wait $recorder
assert_says "$TMP/report" "$TMP/chain.fxt: ended, since the selected processes have ended" "a message"
summarize "$TMP/chain.fxt"
holds "$SUMMARY" ".processes[] | select(.pid == $(cat "$TMP/last")) | .exit_code != null" ||
	fail "the end of the last process of the chain is missing"

note "a zombie, and processes that end while the recording begins"
# (the child ends after the exec, since bash would wait for it)
mkfifo "$TMP/end"
# shellcheck disable=SC2016 # for the other shell
bash -c 'read -r _ <"$1" & echo $! >"$0"; exec sleep 1000' "$TMP/zombie.pid" "$TMP/end" &
parent=$!
is_sleep() {
	[ "$(cat "/proc/$parent/comm")" = sleep ]
}
is_zombie() {
	[ "$(awk '$1 == "State:" { print $2 }' "/proc/$(cat "$TMP/zombie.pid")/status")" = Z ]
}
expect_soon 10 test -s "$TMP/zombie.pid"
expect_soon 10 is_sleep
echo >"$TMP/end"
expect_soon 10 is_zombie
# (it has no events)
expect_exit 3 timeout "$(limit 30)" "$KYMO" record --direct -e sched -o "$TMP/zombie.fxt" -p "$(cat "$TMP/zombie.pid")"
assert_says "$TMP/stderr" "$TMP/zombie.fxt: ended, since the selected processes have ended" "a message"
kill $parent
for i in {1..20}; do
	sleep "0.$((100 + i * 5))" &
	pid=$!
	# (1: it had ended before the check of the option)
	expect_exit "0|1|3" timeout "$(limit 30)" "$KYMO" record --direct --force -e sched -o "$TMP/short.fxt" -p $pid
	wait $pid
done
