#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Command lines of up to 4 KiB are complete, both of processes that run at the start (from /proc)
# and of execs (from the kernel). Longer ones are marked as cut.

. "$(dirname "$0")/../lib.sh"
need_btf

long=$(printf '%03990d' 0) # almost 4 KiB
longer=$(printf '%05000d' 0)

# start NAME: NAME is the first argument of a process.
start() {
	(exec -a "$1" sleep 1000) &
	expect_soon 10 grep -qx sleep "/proc/$!/comm"
}
start "before-$long"
start "before-short"
start "before-$longer"

cat >"$TMP/execs" <<-'END'
	(exec -a "during-$1" sleep 0)
	(exec -a "during-short" sleep 0)
	(exec -a "during-$2" sleep 0)
END
record_around "$TMP/t.fxt" -- bash "$TMP/execs" "$long" "$longer"
summarize "$TMP/t.fxt"

for when in before during; do
	[ $when = before ] && seconds=1000 || seconds=0
	json "$SUMMARY" ".processes[].command_line // \"\" | select(startswith(\"$when-\"))" |
		LC_ALL=C sort >"$TMP/have"
	cut=$when-$longer
	printf '%s\n' "$when-$long sleep $seconds" "$when-short sleep $seconds" "${cut:0:4092}..." |
		sed 's/ sleep / /' | LC_ALL=C sort >"$TMP/want"
	assert_eq "$(cat "$TMP/have")" "$(cat "$TMP/want")" "command lines $when"
done

# They are read last, so a recording can end before. Other processes make that more likely.
for n in 1 2; do
	timeout "$(limit 60)" sh -c 'while :; do :; done' &
done
for n in 1 2 3 4 5; do
	record_around "$TMP/short.fxt" -- true
	expect_exit 0 "$KYMO" summary --json "$TMP/short.fxt"
	json "$TMP/stdout" '.processes[].command_line // "" | select(startswith("before-"))' >"$TMP/have"
	assert_eq "$(wc -l <"$TMP/have")" 3 "command lines in short recording $n"
done

# The mark is also in the text of a dump, and in Perfetto's trace.
expect_exit 0 "$KYMO" dump "$TMP/t.fxt"
for when in before during; do
	assert_ge "$(grep -c "$when-00*\\.\\.\\." "$TMP/stdout")" 1 "cut command lines $when in a dump"
done
expect_exit 0 "$KYMO" export --format perfetto -o "$TMP/t.pftrace" "$TMP/t.fxt"
for when in before during; do
	assert_ge "$(grep -acE "$when-0+[.]{3}" "$TMP/t.pftrace")" 1 "cut command lines $when for Perfetto"
done
