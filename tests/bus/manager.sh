#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guarantees for callers of the service, with sessions that need no kernel: test-manager.c and
# test-snapshots.c over a bus, and external behaviour. From meson, KYMOD is the daemon with such
# sessions.

. "$(dirname "$0")/../lib.sh"
need_root
need_bus

start_bus
bus_pid=$!
# Data of flight recorders of a killed service, and other files there.
flights=$TMP/run/flight
mkdir -p "$flights/0-left" "$flights/65534-left" "$flights/x" "$flights/-a" "$flights/0-no-name" "$flights/99999999999-a"
touch "$flights/0-file" "$flights/0-left/0.head"
ln -s / "$flights/0-link"
export RUNTIME_DIRECTORY=$TMP/run
"$KYMOD" --bus "$BUS" --group 65534 >"$TMP/kymod.log" 2>&1 &
KYMOD_PID=$!
expect_soon 5 "$KYMO" list --bus "$BUS"
open_bus_to_all

expect_exit 0 "$KYMO" list --bus "$BUS"
assert_eq "$(sort "$TMP/stdout" | tr -s ' ')" 'left failed /org/kymo/Trace1/session/65534/left
left failed /org/kymo/Trace1/session/left' "the list of dead flight recorders"
expect_exit 1 "$KYMO" start left --mode flight --bus "$BUS"
assert_says "$TMP/stderr" "the session 'left' exists already" \
	"complaint about the name of a dead flight recorder"
expect_exit 1 "$KYMO" stop left --bus "$BUS"
assert_says "$TMP/stderr" 'the service ended before' "the message about one that is stopped"
expect_exit 1 "$KYMO" stop 65534/left --bus "$BUS"
[ ! -e "$flights/0-left" ] || fail "the directory of a removed flight recorder is still there"
assert_eq "$(cd "$flights" && echo *)" '-a 0-file 0-link 0-no-name 99999999999-a x' "the other files in the directory"
expect_exit 0 "$KYMO" list --bus "$BUS"
assert_empty "$TMP/stdout" "list"

# ---- beside the rest, since these mostly wait ----

# The name is unique, and a second service waits for it only for a while.
second_service() {
	expect_exit 1 timeout "$(limit 25)" "$KYMOD" --bus "$BUS"
	assert_says "$TMP/stderr" 'org.kymo.Trace1 is in use' "complaint of a second kymod"
}

# A stalled output: stop reports it and removes the session; record is informed.
stop_stalled() {
	expect_exit 0 "$KYMO" start hang -o "$TMP/stuck" --bus "$BUS"
	expect_exit 1 timeout "$(limit 30)" "$KYMO" stop hang --bus "$BUS"
	assert_says "$TMP/stderr" 'has stalled' "complaint about a stuck output"
}
record_stalled() {
	local record_pid status=0

	"$KYMO" record -o "$TMP/hang" --bus "$BUS" 2>"$TMP/record.log" &
	record_pid=$!
	expect_soon 5 grep -q start "$TMP/hang"
	expect_exit 1 timeout "$(limit 30)" "$KYMO" stop "record_$record_pid" --bus "$BUS"
	wait "$record_pid" || status=$?
	assert_eq "$status" 1 "exit status of a recording that was removed"
	assert_says "$TMP/record.log" 'before its archive was complete' "complaint of that recording"
}

# beside NAME: runs the function NAME in the background, with a directory of its own
declare -A BESIDE
beside() {
	local own=$TMP/$1

	mkdir -p "$own/run"
	RUNTIME_DIRECTORY=$own/run TMP=$own "$1" &
	BESIDE[$1]=$!
}

# await_beside NAME ...: waits for them
await_beside() {
	local name

	for name; do
		wait "${BESIDE[$name]}" || fail "$name failed"
	done
}

beside second_service
# The outputs that stall are those of another service, on another bus.
SERVICE_BUS=$BUS
mkdir -p "$TMP/stalled/run"
TMP=$TMP/stalled
start_bus
TMP=${TMP%/stalled}
RUNTIME_DIRECTORY=$TMP/stalled/run "$KYMOD" --bus "$BUS" >"$TMP/stalled.log" 2>&1 &
expect_soon 5 "$KYMO" list --bus "$BUS"
STALLED_BUS=$BUS
beside stop_stalled
beside record_stalled
BUS=$SERVICE_BUS

# ---- the rest ----

"$KYMO_TEST_SNAPSHOTS"
"$KYMO_TEST_MANAGER"
assert_eq "$(cd "$flights" && echo *)" '-a 0-file 0-link 0-no-name 99999999999-a x' "the remains of flight recorders"

# The verbs.
expect_exit 0 "$KYMO" start box --mode flight --keep 3s --keep-size 8M --bus "$BUS"
expect_exit 0 "$KYMO" status box --json --bus "$BUS"
assert_eq "$(gojq -c '.[0].options | [.mode, .flight_ns, .flight_bytes]' "$TMP/stdout")" '["flight",3000000000,8388608]' "options"
expect_exit 0 "$KYMO" snapshot box -o "$TMP/box" --bus "$BUS"
assert_eq "$(cat "$TMP/box")" flight "a snapshot"
expect_exit 1 "$KYMO" snapshot box -o "$TMP/box" --bus "$BUS"
assert_says "$TMP/stderr" 'exists already' "complaint about a file that is there"
echo other >"$TMP/box"
expect_exit 0 "$KYMO" snapshot box -o "$TMP/box" --force --bus "$BUS"
assert_eq "$(cat "$TMP/box")" flight "a snapshot over a file that was there"
expect_exit 0 "$KYMO" snapshot box -o "$TMP/box.zst" --compress --bus "$BUS"
assert_eq "$(zstd -dc <"$TMP/box.zst")" flight "a snapshot that is packed"
expect_exit 1 "$KYMO" snapshot box --bus "$BUS"
assert_says "$TMP/stderr" 'does not record allocations; -o FILE' "complaint about no file"
expect_exit 1 "$KYMO" rotate box --bus "$BUS"
assert_says "$TMP/stderr" 'no chunks' "complaint about rotating"
expect_exit 2 "$KYMO" start box2 --mode flight -o "$TMP/box2" --bus "$BUS"
expect_exit 2 "$KYMO" snapshot box --force --bus "$BUS"
expect_exit 0 "$KYMO" stop box --bus "$BUS"
expect_exit 0 "$KYMO" start stream -o "$TMP/stream" --bus "$BUS"
expect_exit 1 "$KYMO" snapshot stream --bus "$BUS"
assert_says "$TMP/stderr" 'and is not a flight recorder' "complaint about what it is not"
expect_exit 1 "$KYMO" snapshot stream -o "$TMP/stream2" --bus "$BUS"
assert_says "$TMP/stderr" 'is not a flight recorder' "complaint about what it is not"
[ ! -e "$TMP/stream2" ] || fail "a snapshot that could not be taken left its file behind"
expect_exit 0 "$KYMO" stop stream --bus "$BUS"

# A recording of the last seconds: at its end, and at a signal.
"$KYMO" record --mode flight -o "$TMP/last.fxt" --bus "$BUS" 2>"$TMP/record.log" &
record_pid=$!
expect_soon 5 bash -c "'$KYMO' list --bus '$BUS' | grep running >/dev/null"
kill -USR1 "$record_pid"
expect_soon 5 grep -q ': snapshot$' "$TMP/record.log"
snapshots=("$TMP"/last-*.fxt)
assert_eq ${#snapshots[@]} 1 "files of snapshots"
assert_line "${snapshots[0]}" flight "a snapshot that a signal asked for"
kill -INT "$record_pid"
wait "$record_pid" || fail "a flight recording failed: $(cat "$TMP/record.log")"
assert_line "$TMP/last.fxt" flight "the end of a flight recording"
assert_contains "$TMP/record.log" 'last\.fxt: .*, the most recent part of .* events$' "the message"

is_starting() {
	[ "$("$KYMO" list --bus "$BUS" | tr -s ' ' | cut -d ' ' -f 1,2)" = "$1 starting" ]
}

# A start that is interrupted before the session runs removes the session and then its file. A file
# that exists before stays.
echo before >"$TMP/slow"
for file in slow new; do
	"$KYMO" start slow_start --force -o "$TMP/$file" --bus "$BUS" 2>"$TMP/log" &
	pid=$!
	expect_soon 5 is_starting slow_start
	# (Two signals, as timeout(1) sends. Two of one number would be one, and which of two comes first
	# is up to the kernel.)
	kill -STOP $pid
	kill -TERM $pid
	kill -HUP $pid
	kill -CONT $pid
	status=0
	wait $pid || status=$?
	assert_eq "${status/129/143}" 143 "exit status of an interrupted start: $(cat "$TMP/log")"
	expect_exit 0 "$KYMO" list --bus "$BUS"
	assert_empty "$TMP/stdout" "list after an interrupted start"
done
assert_eq "$(cat "$TMP/slow")" before "the file that was to be replaced"
[ ! -e "$TMP/new" ] || fail "an interrupted start left its file behind"

await_beside second_service stop_stalled record_stalled
expect_exit 0 "$KYMO" list --bus "$STALLED_BUS"
assert_empty "$TMP/stdout" "list after outputs that stalled"

# At its end, the service completes archives and informs their owners.
expect_exit 0 "$KYMO" start last -o "$TMP/last" --bus "$BUS"
"$KYMO" record -o "$TMP/recorded" --bus "$BUS" 2>"$TMP/record.log" &
record_pid=$!
expect_soon 5 grep -q start "$TMP/recorded"
stop_kymod
wait "$record_pid" || fail "a recording failed with the orderly end of the service: $(cat "$TMP/record.log")"
assert_contains "$TMP/record.log" '^.*recorded: .* events, ' "the message of record at the end of the service"
assert_line "$TMP/recorded" 'stop service stopped' "its archive"
assert_line "$TMP/last" 'stop service stopped' "archive of a session that ran at the end"

# Wrong options, no bus, no rights.
expect_exit 2 "$KYMOD" --no-such-option
expect_exit 2 "$KYMOD" word
expect_exit 0 "$KYMOD" --help
expect_exit 0 "$KYMOD" --version
expect_exit 1 "$KYMOD" --bus "unix:path=$TMP/nobus"
assert_says "$TMP/stderr" 'cannot connect to the bus' "complaint without a bus"
cp "$KYMOD" "$TMP/kymod"
expect_exit 1 setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
	--bounding-set=-all "$TMP/kymod" --bus "$BUS"
assert_says "$TMP/stderr" 'needs root' "complaint without rights"

# The bus ends: archives are completed, and the daemon exits with 1.
"$KYMOD" --bus "$BUS" >"$TMP/kymod.log" 2>&1 &
KYMOD_PID=$!
expect_soon 5 "$KYMO" list --bus "$BUS"
expect_exit 0 "$KYMO" start alone -o "$TMP/alone" --bus "$BUS"
kill "$bus_pid"
status=0
wait "$KYMOD_PID" || status=$?
assert_eq "$status" 1 "exit status without a bus"
assert_line "$TMP/alone" 'stop service stopped' "archive of a session whose bus went"
