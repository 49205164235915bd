#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The private socket of the service, and a bus whose process does not answer. From meson, KYMOD is
# the daemon with sessions that need no kernel.

. "$(dirname "$0")/../lib.sh"
need_root
need_bus
need_command systemd-socket-activate

# Other users can reach the socket's directory, and the command.
chmod 755 "$TMP"
cp "$KYMO" "$TMP/kymo"
mkdir "$TMP/etc" "$TMP/out"
cat >"$TMP/etc/plain.conf" <<-END
	[Output]
	Directory=$TMP/out
END

# Each service has a bus of its own, because they wait for silent buses meanwhile.
declare -A bus_pids services
# use_service NAME: the functions below are about the service NAME from now on
use_service() {
	service=$1
	BUS=unix:path=$TMP/$1/bus
	socket=$TMP/$1/private
	bus_pid=${bus_pids[$1]-}
	KYMOD_PID=${services[$1]-}
}

# start_own_bus NAME: starts the bus of the service NAME
start_own_bus() {
	mkdir "$TMP/$1"
	TMP=$TMP/$1 start_bus
	bus_pids[$1]=$!
	use_service "$1"
}

# start_service [OPTION ...]: starts the service on the bus and the socket
start_service() {
	RUNTIME_DIRECTORY=$TMP/$service/run "$KYMOD" --bus "$BUS" --socket "$socket" \
		--config-dir "$TMP/etc" "$@" >"$TMP/$service/kymod.log" 2>&1 &
	KYMOD_PID=$!
	services[$service]=$!
}

# direct VERB ...: calls the service by the socket
direct() {
	"$KYMO" "--socket=$socket" "$@"
}

# as_other COMMAND ...: runs COMMAND as another user
as_other() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

note "a start without the bus, and without --idle-exit"
start_own_bus without
kill -STOP "$bus_pid"
start_service
expect_soon 60 direct start five -o "$TMP/five" &
starter=$!

note "exit when idle, while the bus does not answer"
start_own_bus idle
start_service --idle-exit 5s
# (while it has a session, it does not exit)
expect_soon 20 "$KYMO" start four -o "$TMP/four" --bus "$BUS"
kill -STOP "$bus_pid"
expect_exit 0 direct stop four

note "beside a bus that works"
start_own_bus main
start_service
expect_soon 20 "$KYMO" list --bus "$BUS"
expect_exit 0 direct list
assert_empty "$TMP/stdout" "a list without sessions"
expect_exit 0 direct start one -o "$TMP/one"
expect_exit 0 "$KYMO" list --bus "$BUS"
assert_contains "$TMP/stdout" '^one +running' "its session on the bus"
expect_exit 0 "$KYMO" start two -o "$TMP/two" --bus "$BUS"
expect_exit 0 "$KYMO" list "--socket=$socket"
assert_contains "$TMP/stdout" '^one +running' "its session"
assert_contains "$TMP/stdout" '^two +running' "the session of the bus"
expect_exit 0 direct stop two
KYMO_TEST_BUS=$BUS KYMO_TEST_SOCKET=$socket expect_exit 0 "$KYMO_TEST_PRIVATE_SOCKET"

note "other users"
expect_exit 1 as_other "$TMP/kymo" list "--socket=$socket"
assert_says "$TMP/stderr" "only root can use the private socket $socket" "refusal by the kernel"
chmod 666 "$socket"
expect_exit 1 as_other "$TMP/kymo" list "--socket=$socket"
assert_says "$TMP/stderr" "$socket" "refusal by the service"
assert_says "$TMP/main/kymod.log" 'a connection of user 65534 to the private socket is refused' "the log"
chmod 600 "$socket"

note "options"
expect_exit 2 direct list --bus "$BUS"
assert_says "$TMP/stderr" "--bus and --socket cannot be combined" "two ways"
expect_exit 2 direct list -H other
assert_says "$TMP/stderr" "cannot be combined with --host" "another machine"
expect_exit 2 direct summary "$TMP/one"
assert_says "$TMP/stderr" "not possible with this verb" "a verb without the service"
expect_exit 2 "$KYMO" --socket=here list
assert_says "$TMP/stderr" "'here' is not an absolute path" "a relative path"
expect_exit 1 "$KYMO" --socket="$TMP/nothing" list
assert_says "$TMP/stderr" "no service listens on $TMP/nothing: run \`systemctl start kymod.socket\`" "no socket"
expect_exit 1 "$KYMOD" --bus "$BUS" --socket "$socket"
assert_says "$TMP/stderr" "cannot listen on $socket" "a second service"
echo text >"$TMP/file"
expect_exit 1 "$KYMOD" --bus "$BUS" --socket "$TMP/file"
assert_says "$TMP/stderr" "cannot listen on $TMP/file" "a file that is no socket"
assert_line "$TMP/file" text "the file"

note "a bus that does not answer"
kill -STOP "$bus_pid"
expect_exit 1 "$KYMO" list --bus "$BUS"
assert_says "$TMP/stderr" "the bus $BUS does not answer: its process hangs or is stopped" "the error"
assert_says "$TMP/stderr" "root can use --socket instead" "the remedy"
expect_exit 0 direct list
assert_contains "$TMP/stdout" '^one +running' "the session"
expect_exit 0 direct mark one "without a bus"
expect_exit 0 direct stop one
assert_says "$TMP/one" 'without a bus' "the mark"
expect_exit 0 direct start three -o "$TMP/three"
expect_exit 0 direct status three
assert_says "$TMP/stdout" running "its state"
expect_exit 0 direct stop three
"$KYMO" collect plain "--socket=$socket" >"$TMP/collect.log" 2>&1 &
collector=$!
collects() {
	direct list >"$TMP/list" && grep -q '^plain  *running' "$TMP/list"
}
expect_soon 20 collects
terminate "$collector" "kymo collect"
expect_exit 0 direct list
assert_empty "$TMP/stdout" "the list after the collection"
[ -n "$(ls "$TMP/out")" ] || fail "the collection has no archive"
kill -CONT "$bus_pid"
expect_exit 0 "$KYMO" list --bus "$BUS"
stop_kymod

note "a start without the bus: it has served the socket meanwhile"
use_service without
wait "$starter" || fail "it has not served the socket: $(cat "$TMP/without/kymod.log")"
assert_says "$TMP/without/kymod.log" 'does not answer: serving the private socket only' "the message"
expect_exit 0 direct mark five "alone"
expect_exit 0 direct stop five
assert_says "$TMP/five" 'alone' "the mark"

note "exit when idle: it has ended meanwhile"
use_service idle
expect_soon 60 has_ended "$KYMOD_PID"
wait "$KYMOD_PID" || fail "it ended with an error: $(cat "$TMP/idle/kymod.log")"
assert_says "$TMP/idle/kymod.log" 'the bus does not answer: exiting' "the message"

use_service main
note "a start by the socket"
RUNTIME_DIRECTORY=$TMP/run systemd-socket-activate --listen="$TMP/activated" "$KYMOD" --bus "$BUS" \
	>"$TMP/activated.log" 2>&1 &
KYMOD_PID=$!
expect_soon 20 test -S "$TMP/activated"
expect_exit 0 "$KYMO" list "--socket=$TMP/activated"
# Children in sandboxes have the descriptors below 64.
inode=$(awk -v path="$TMP/activated" '$8 == path && $4 == "00010000" { print $7 }' /proc/net/unix)
find "/proc/$KYMOD_PID/fd" -lname "socket:\[$inode\]" -printf '%f\n' >"$TMP/listening"
assert_eq "$(wc -l <"$TMP/listening")" 1 "descriptors of the socket"
assert_ge "$(cat "$TMP/listening")" 64 "the descriptor of the socket"
expect_exit 0 "$KYMO" list --bus "$BUS"
stop_kymod

note "a start by two sockets, which are not served"
RUNTIME_DIRECTORY=$TMP/run systemd-socket-activate --listen="$TMP/first" --listen="$TMP/second" "$KYMOD" --bus "$BUS" \
	>"$TMP/activated.log" 2>&1 &
KYMOD_PID=$!
expect_soon 20 test -S "$TMP/second"
expect_exit 1 "$KYMO" list "--socket=$TMP/first"
expect_soon 20 "$KYMO" list --bus "$BUS"
assert_says "$TMP/activated.log" 'not served: systemd must pass one socket' "the warning"
# Children do not have them, either.
expect_exit 1 "$KYMO" list "--socket=$TMP/second"
find "/proc/$KYMOD_PID/fd" -lname 'socket:*' -printf '%f\n' >"$TMP/sockets"
for number in 3 4; do
	! grep -qx "$number" "$TMP/sockets" || fail "descriptor $number is still a socket"
done
stop_kymod

note "a start without the bus: it has ended meanwhile"
use_service without
expect_soon 60 has_ended "$KYMOD_PID"
wait "$KYMOD_PID" || fail "it ended with an error: $(cat "$TMP/without/kymod.log")"
