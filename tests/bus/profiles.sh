#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The collections that the service accepts, their owners, and errors, with sessions that
# need no kernel. From meson, KYMOD is the daemon with such sessions.

. "$(dirname "$0")/../lib.sh"
need_root
need_bus
need_command busctl gojq

start_bus
# All users can access the bus, so its directory, too.
chmod 755 "$TMP"
chmod 777 "$TMP/bus"
mkdir "$TMP/etc" "$TMP/out"
export RUNTIME_DIRECTORY=$TMP/run
"$KYMOD" --bus "$BUS" --group 65534 --config-dir "$TMP/etc" --state-dir "$TMP/state" >"$TMP/kymod.log" 2>&1 &
# shellcheck disable=SC2034 # for stop_kymod
KYMOD_PID=$!
expect_soon 5 "$KYMO" list --bus "$BUS"

# create NAME [PROFILE] [OPTION TYPE VALUE]: the answer of the service is in $TMP/stdout and
# $TMP/stderr.
create() {
	local name=$1 profile=${2:-$1}

	shift
	[ $# = 0 ] || shift
	busctl --address="$BUS" call org.kymo.Trace1 /org/kymo/Trace1 org.kymo.Trace1.Manager CreateSession 'sa{sv}' \
		"$name" $((2 + $# / 3)) profile s "$profile" linger b true "$@"
}

# refused TEXT WORD ...: `create WORD ...` fails, and the answer contains TEXT.
refused() {
	local text=$1

	shift
	expect_exit 1 create "$@"
	assert_says "$TMP/stderr" "$text" "answer to: create $*"
}

profile() {
	cat >"$TMP/etc/$1.conf"
	chmod 644 "$TMP/etc/$1.conf"
}

profile plain <<-END
	[Output]
	Directory=$TMP/out
END

# Created, with its directory, and found again.
expect_exit 0 create plain
assert_says "$TMP/stdout" '"/org/kymo/Trace1/session/plain"' "object of a session of a collection"
property() {
	busctl --address="$BUS" get-property org.kymo.Trace1 "/org/kymo/Trace1/session/$1" org.kymo.Trace1.Session "$2"
}
assert_eq "$(property plain Profile)" 's "plain"' "property Profile"
assert_eq "$(property plain Directory)" "s \"$TMP/out\"" "property Directory"
assert_eq "$(property plain Snapshots)" 'a{st} 3 "written" 0 "failed" 0 "passed_over" 0' "property Snapshots"
refused "the session 'plain' exists already" plain

# A session of a profile has no other options, and has the name of the profile.
refused 'cannot be combined with `profile`' other plain ring_bytes t 1048576
refused 'must have its name' other plain
refused 'is not a valid name for a collection' ../plain ../plain
refused "there is no collection $TMP/etc/nothing.conf" nothing

# Only root can create such sessions. The group can use everything else.
expect_exit 1 setpriv --reuid=65534 --regid=65534 --clear-groups "$(command -v busctl)" --address="$BUS" call \
	org.kymo.Trace1 /org/kymo/Trace1 org.kymo.Trace1.Manager CreateSession 'sa{sv}' mine 1 profile s plain
assert_says "$TMP/stderr" 'root' "answer to somebody else"
expect_exit 1 setpriv --reuid=65534 --regid=65534 --clear-groups "$(command -v busctl)" --address="$BUS" call \
	org.kymo.Trace1 /org/kymo/Trace1 org.kymo.Trace1.Manager SnapshotAll s reason

# All errors, each with its line.
profile wrong <<-END
	[Collection]
	Mod=flight
	RingSize=lots
	[Flight]
	Keep=5s
END
refused "$TMP/etc/wrong.conf:2: there is no key Mod= in [Collection]; did you mean Mode=" wrong
assert_says "$TMP/stderr" "$TMP/etc/wrong.conf:3: RingSize=: 'lots' is not a size" "second complaint"
assert_says "$TMP/stderr" "$TMP/etc/wrong.conf:5: Keep=: needs mode 'flight'" "third complaint"

# The owner of the profile.
profile others </dev/null
chown 65534 "$TMP/etc/others.conf"
refused 'others.conf is not used: it does not belong to root' others
profile writable </dev/null
chmod 666 "$TMP/etc/writable.conf"
refused 'writable.conf is not used: users other than root can write' writable
ln -s plain.conf "$TMP/etc/link.conf"
refused 'is a symbolic link' link
mkfifo "$TMP/etc/pipe.conf"
refused 'is not a regular file' pipe
mkdir "$TMP/etc/directory.conf"
refused 'is not a regular file' directory
chmod 777 "$TMP/etc"
refused "$TMP/etc is not used: users other than root can write" plain
chmod 755 "$TMP/etc"

# Allowed places of output.
profile missing <<-END
	[Output]
	Directory=$TMP/missing
END
refused "Directory=$TMP/missing does not exist: create it" missing
ln -s "$TMP/out" "$TMP/missing"
refused 'contains a symbolic link' missing
rm "$TMP/missing"
mkdir -m 777 "$TMP/missing"
refused 'users other than root can write' missing
profile below <<-END
	[Output]
	Directory=/var/lib/kymo/some/where
END
expect_exit 0 create below
[ -d "$TMP/state/some/where" ] || fail "a directory below that of the service was not made"
assert_eq "$(stat -c %a "$TMP/state/some/where")" 750 "its mode"
profile usual </dev/null
expect_exit 0 create usual
[ -d "$TMP/state/usual" ] || fail "the default directory was not made"

# Names that do not exist yet, and names that cannot exist.
need_cgroup2
profile later <<-END
	[Filter]
	Unit=kymo-test-$$@instance.service
END
refused 'neither its cgroup nor a parent of it exists yet' later
assert_says "$TMP/stderr" 'Unit=kymo-test' "which one is missing"
profile program <<-END
	[Collection]
	Categories=memory
	[Filter]
	User=0
	[Memory]
	Program=$TMP/no-such-program
END
refused "Program=$TMP/no-such-program cannot be opened" program

# Triggers write snapshots. A trigger that fires soon after another one is skipped, and counted. A
# requested snapshot is always written.
profile trigger <<-END
	[Collection]
	Mode=flight
	Categories=sched
	[Trigger]
	WakeupLatency=1ms
	Interval=1h
	[Output]
	Directory=$TMP/out
END
"$KYMO" collect trigger --bus "$BUS" 2>"$TMP/trigger.log" &
pid=$!
passed_over() {
	[ "$(property trigger Snapshots)" = "a{st} 3 \"written\" $1 \"failed\" 0 \"passed_over\" $2" ]
}
expect_soon 10 passed_over 1 2
expect_exit 0 "$KYMO" snapshot --all --reason 'a test' --bus "$BUS"
assert_contains "$TMP/stderr" '^1 written, 0 ' "a snapshot soon after a trigger's"
passed_over 2 2 || fail "the skipped snapshot was not counted: $(property trigger Snapshots)"
assert_eq "$(find "$TMP/out" -name 'trigger-*.fxt' | wc -l)" 2 "files"
expect_exit 0 "$KYMO" rotate trigger --bus "$BUS"
assert_eq "$(find "$TMP/out" -name 'trigger-*.fxt' | wc -l)" 3 "files, when somebody asks for one"
expect_exit 0 "$KYMO" status trigger --bus "$BUS"
assert_line "$TMP/stdout" "    profile:  trigger, to $TMP/out" "the answer of status about its collection"
assert_line "$TMP/stdout" '    files:    3 written, 0 failed, 2 skipped' \
	"the answer of status about its files"
expect_exit 0 "$KYMO" status trigger --json --bus "$BUS"
assert_eq "$(json "$TMP/stdout" '.[0] | [.profile, .directory, .snapshots.written, .snapshots.failed, .snapshots.passed_over] | join(" ")')" \
	"trigger $TMP/out 3 0 2" "the answer for programs"
kill -TERM $pid
wait $pid || fail "kymo collect failed when it was told to end: $(cat "$TMP/trigger.log")"
expect_exit 2 "$KYMO" snapshot --all trigger --bus "$BUS"
expect_exit 2 "$KYMO" snapshot trigger --reason x --bus "$BUS"

# A failed write is tried again, in growing intervals, until the session ends.
profile fail_output <<-END
	[Output]
	Directory=$TMP/out
END
"$KYMO" collect fail_output --bus "$BUS" 2>"$TMP/full.log" &
pid=$!
expect_soon 30 grep -q 'trying again in 4 s' "$TMP/full.log"
assert_says "$TMP/full.log" 'the recording failed: the output is full' "why it is not written"
assert_eq "$(grep -o 'trying again.*' "$TMP/full.log" | sed -n 1,3p | paste -sd,)" \
	'trying again in 1 s,trying again in 2 s,trying again in 4 s' "when it is tried again"
kill -TERM $pid
wait $pid || fail "kymo collect failed when it was told to end: $(cat "$TMP/full.log")"

# A unit that is restarted in another cgroup: its flight recorder begins anew, and its previous data
# goes to a file.
unit=kymo-test-$$.service
mkdir -p "$CGROUP2/kymo-test-$$/one/$unit" "$CGROUP2/kymo-test-$$/two"
at_exit remove_cgroups
remove_cgroups() {
	rmdir "$CGROUP2/kymo-test-$$"/*/"$unit" "$CGROUP2/kymo-test-$$"/* "$CGROUP2/kymo-test-$$" 2>/dev/null || true
}
profile moving <<-END
	[Collection]
	Mode=flight
	Categories=sched
	[Filter]
	Unit=$unit
	[Output]
	Directory=$TMP/out
END
"$KYMO" collect moving --bus "$BUS" 2>"$TMP/moving.log" &
pid=$!
expect_soon 10 session_is_running moving
n_kept() {
	find "$TMP/out" -name 'moving-*.fxt' | wc -l
}
assert_eq "$(n_kept)" 0 "files before the unit is elsewhere"
rmdir "$CGROUP2/kymo-test-$$/one/$unit"
mkdir "$CGROUP2/kymo-test-$$/two/$unit"
is_kept() {
	[ "$(n_kept)" = 1 ] && grep -q 'ended: cgroups changed' "$TMP/moving.log"
}
expect_soon 30 is_kept
expect_soon 10 session_is_running moving
assert_contains "$TMP/kymod.log" 'session/moving: writes a snapshot to .*: cgroups changed' "the log"
kill -TERM $pid
wait $pid || fail "kymo collect failed when it was told to end: $(cat "$TMP/moving.log")"
remove_cgroups

# kymo collect reports the same, and does not try again.
expect_exit 2 timeout "$(limit 20)" "$KYMO" collect wrong --bus "$BUS"
assert_says "$TMP/stderr" 'wrong.conf:3: RingSize=' "the message of kymo collect"
expect_exit 2 timeout "$(limit 20)" "$KYMO" collect nothing --bus "$BUS"
expect_exit 2 "$KYMO" collect --bus "$BUS"

# It waits for things that do not exist yet, until it is stopped, with one message.
busctl --address="$BUS" monitor --match "type='method_call',member='CreateSession'" >"$TMP/asked" 2>&1 &
monitor=$!
expect_soon 20 grep -q Monitoring "$TMP/asked"
"$KYMO" collect later --bus "$BUS" 2>"$TMP/later.log" &
pid=$!
has_asked_thrice() {
	[ "$(grep -c Member=CreateSession "$TMP/asked")" -ge 3 ]
}
expect_soon 20 has_asked_thrice
assert_says "$TMP/later.log" 'of it exists yet' "the reason for the wait"
kill $monitor
kill -TERM $pid
wait $pid || fail "kymo collect failed when it was told to end: $(cat "$TMP/later.log")"
assert_eq "$(grep -c 'of it exists yet' "$TMP/later.log")" 1 "complaints while it waits"

stop_kymod
