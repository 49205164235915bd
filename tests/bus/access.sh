#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The permissions of users, with sessions that need no kernel: test-access.c without polkit, and
# with a fake polkit whose answers the test chooses; test-access-waiting.c while the fake polkit has
# not answered; and the verbs of kymo, also if a signal ends them meanwhile. From meson, KYMOD is the daemon with such sessions.

. "$(dirname "$0")/../lib.sh"
need_root
need_bus
need_command busctl gojq

start_bus
"$KYMOD" --bus "$BUS" --group 65534 >"$TMP/kymod.log" 2>&1 &
expect_soon 5 "$KYMO" list --bus "$BUS"
open_bus_to_all

# as UID VERB ...: runs kymo as user UID.
as() {
	local uid=$1

	shift
	setpriv --reuid="$uid" --regid="$uid" --clear-groups "$TMP/kymo" "$@" --bus "$BUS"
}
cp "$KYMO" "$TMP/kymo"
mkdir -m 777 "$TMP/everybodys"

"$KYMO_TEST_ACCESS" without

expect_exit 1 as 1 start x -o "$TMP/everybodys/x"
assert_says "$TMP/stderr" 'adduser daemon 65534' "complaint to a stranger"
[ ! -e "$TMP/everybodys/x" ] || fail "a session that could not be made left its file behind"
expect_exit 0 as 1 list
assert_empty "$TMP/stdout" "list of a stranger"

start_fake_polkit
polkit_says control-own yes
expect_exit 1 as 1 start x -o "$TMP/everybodys/x"
assert_says "$TMP/stderr" 'with --own, you can trace your own processes' "complaint to a stranger"

# A user outside the group follows a session of their own, whose signals they receive.
polkit_says control yes
as 1 record -o "$TMP/everybodys/recorded" 2>"$TMP/record.log" &
record_pid=$!
expect_soon 5 grep -q start "$TMP/everybodys/recorded"
name=$(as 1 list --json | gojq -r '.[0].name')
expect_exit 0 as 1 monitor "$name" -n 2 --json
assert_eq "$(wc -l <"$TMP/stdout")" 2 "lines of monitor"
expect_exit 0 as 2 list
assert_empty "$TMP/stdout" "list of another user"
expect_exit 1 as 2 status "1/$name"
assert_says "$TMP/stderr" "there is no session '1/$name'" "complaint to another user"
kill -INT "${name#record_}"
wait "$record_pid" || fail "the recording failed: $(cat "$TMP/record.log")"
assert_contains "$TMP/record.log" '^.*recorded: .* events, ' "the message of record"

"$KYMO_TEST_ACCESS_WAITING"

# polkit_waits N: whether polkit has N questions to answer
polkit_waits() {
	busctl --address="$BUS" call org.freedesktop.PolicyKit1 /org/freedesktop/PolicyKit1/Authority \
		org.kymo.Test.Polkit GetCounts s org.kymo.Trace1.control >"$TMP/counts"
	[ "$(awk '{ print $4 }' "$TMP/counts")" = "$1" ]
}

note "a signal while polkit asks for a password"
polkit_says control hold
for verb in 'record -o held' 'top --json'; do
	busctl --address="$BUS" call org.freedesktop.PolicyKit1 /org/freedesktop/PolicyKit1/Authority \
		org.kymo.Test.Polkit Release
	# shellcheck disable=SC2086 # words
	(cd "$TMP/everybodys" && exec setpriv --reuid=1 --regid=1 --clear-groups "$TMP/kymo" $verb --bus "$BUS") \
		>"$TMP/held.out" 2>"$TMP/held.log" &
	held_pid=$!
	wait_for 5 polkit_waits 1 || fail "$verb does not ask: $(cat "$TMP/held.log" "$TMP/counts")"
	kill -TERM "$held_pid"
	expect_soon 5 has_ended "$held_pid"
	status=0
	wait "$held_pid" || status=$?
	assert_eq "$status" 143 "exit status of $verb after SIGTERM ($(cat "$TMP/held.log"))"
	assert_empty "$TMP/held.log" "messages of $verb"
	[ ! -e "$TMP/everybodys/held" ] || fail "$verb left a file behind"
	expect_soon 5 has_no_sessions
done

"$KYMO_TEST_ACCESS" with
