#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The status of the service and its sessions, in kymo and in standard tools for a bus; and a command
# and a service of different versions. From meson, KYMOD is the daemon whose sessions need no
# kernel, and KYMOD_OTHER is the same of another version.

. "$(dirname "$0")/../lib.sh"
need_root
need_bus
need_command busctl gojq

start_bus
start_kymod

note "the service, without a session"
version=$("$KYMO" --version | cut -d' ' -f2)
expect_exit 0 "$KYMO" status --bus "$BUS"
assert_line "$TMP/stdout" "kymod $version" "its version"
assert_contains "$TMP/stdout" '^    since: +[0-9]{4}-[0-9]{2}-[0-9]{2} ' "since when"
assert_contains "$TMP/stdout" '^    sessions: 0 of [0-9]+, yours 0 of [0-9]+$' "limits"
assert_contains "$TMP/stdout" '^    rings:    0 B of 2\.0 GiB, yours 0 B of ' "memory"
assert_contains "$TMP/stdout" '^    blocks:   0 of [0-9]+, yours 0 of [0-9]+$' "blocks"
assert_says "$TMP/stdout" 'There are no sessions' "no sessions"
assert_empty "$TMP/stderr" "the message about one version"

note "and with two"
for name in one two; do
	expect_exit 0 "$KYMO" start $name -o "$TMP/$name" --bus "$BUS"
done
has_events() {
	[ "$("$KYMO" status "$1" --json --bus "$BUS" | gojq '.[0].events')" -gt 0 ]
}
expect_soon 10 has_events one
expect_soon 10 has_events two
expect_exit 0 "$KYMO" status --bus "$BUS"
assert_contains "$TMP/stdout" '^    sessions: 2 of [0-9]+, yours 2 of [0-9]+$' "limits"
for name in one two; do
	assert_line "$TMP/stdout" "$name" "session $name"
done
for what in state owner duration events lost bytes cost options; do
	assert_eq "$(grep -c "^    $what: " "$TMP/stdout")" 2 "lines that say: $what"
done
assert_contains "$TMP/stdout" '^    owner: +root \(0\)$' "owner"
expect_exit 0 "$KYMO" status --json --bus "$BUS"
assert_eq "$(json "$TMP/stdout" .service.version)" "$version" "version"
assert_ge "$(json "$TMP/stdout" .service.start_ns)" 1 "since when"
assert_eq "$(json "$TMP/stdout" '.service.usage.sessions | "\(.all) \(.user)"')" "2 2" "sessions taken"
assert_ge "$(json "$TMP/stdout" .service.usage.ring_bytes.all)" 1 "rings taken"
assert_eq "$(json "$TMP/stdout" '[.sessions[].name] | sort | join(" ")')" "one two" "sessions"
assert_documented status "$TMP/stdout" '.sessions[]'
expect_exit 0 "$KYMO" list --json --bus "$BUS"
assert_documented list "$TMP/stdout" '.[]'
expect_exit 0 "$KYMO" status one --bus "$BUS"
assert_eq "$(head -1 "$TMP/stdout")" one "one of them"
expect_exit 0 "$KYMO" list --bus "$BUS"
assert_eq "$(wc -l <"$TMP/stdout")" 2 "lines of list"

note "the cost of a session, and dropped data"
expect_exit 0 "$KYMO" start dear -o "$TMP/dear" --max-overhead 0.05cpu --trigger wakeup=1ms --bus "$BUS"
expect_exit 0 "$KYMO" start dear_once -o "$TMP/dear-once" --max-overhead 3% --bus "$BUS"
expect_exit 0 "$KYMO" start flood --mode flight --keep-size 1M --bus "$BUS"
expect_exit 0 "$KYMO" start cramped --mode flight --keep-size 8M --bus "$BUS"
expect_soon 10 has_events dear
expect_soon 10 has_events flood
expect_exit 0 "$KYMO" status dear --bus "$BUS"
assert_contains "$TMP/stdout" '^    cost: .* of CPU time of the service, .* of programs in the kernel' "cost"
assert_contains "$TMP/stdout" '^    options:  .*max_overhead 5%, .*triggers wakeup=1\.00 ms' \
	"the requested categories"
assert_line "$TMP/stdout" '    shed:     stacks at 7.00% of a CPU, the limit is 5.00%' \
	"the parts that were shed"
expect_soon 5 grep -qF \
	'session/dear_once: resumed stacks: overhead 0.50% of the machine, limit 3.00%' \
	"$TMP/kymod.log"
assert_says "$TMP/kymod.log" 'session/dear_once: stopped stacks: overhead 3.50% of the machine, limit 3.00%' "journal"
expect_exit 0 "$KYMO" status dear_once --bus "$BUS"
assert_contains "$TMP/stdout" '^    options:  .*max_overhead_machine 3%' "a share of the machine"
assert_contains "$TMP/stdout" '^    returned: stacks at [0-9]*-' "the parts that returned"
! grep 'shed:' "$TMP/stdout" || fail "a part that returned is reported as shed"
expect_exit 0 "$KYMO" status dear_once --json --bus "$BUS"
assert_eq "$(json "$TMP/stdout" '.[0] | [(.shed | length), (.steps[] | "\(.what) \(.back) \(.cpus)")] | join(" ")')" \
	"0 stacks false 2 stacks true 2" "steps"
expect_exit 3 "$KYMO" stop dear_once --bus "$BUS"
assert_contains "$TMP/stderr" \
	'dear_once: call stacks stopped at .* 3\.50% of the machine, and --max-overhead is 3\.00%' \
	"at the end"
assert_says "$TMP/stderr" 'dear_once: call stacks resumed at ' "at the end"
expect_exit 0 "$KYMO" status flood --bus "$BUS"
assert_line "$TMP/stdout" '    mode:     flight' "mode"
assert_line "$TMP/stdout" '    lost:     none' "losses"
assert_contains "$TMP/stdout" '^    dropped:  4\.0 KiB ' "the dropped bytes"
! grep 'keeps:' "$TMP/stdout" || fail "a flight recorder that may keep all is said not to"
expect_exit 0 "$KYMO" status flood --json --bus "$BUS"
assert_eq "$(json "$TMP/stdout" '.[0].dropped_bytes')" 4096 "dropped bytes"
assert_eq "$(json "$TMP/stdout" '.[0].options.flight_bytes')" 1048576 "an option"
assert_eq "$(json "$TMP/stdout" '.[0].profile')" null "profile of one that has none"
assert_eq "$(busctl --address="$BUS" get-property org.kymo.Trace1 /org/kymo/Trace1/session/flood \
	org.kymo.Trace1.Session Dropped)" "t 4096" "property Dropped"
expect_soon 5 grep -qF \
	'session/flood: events came faster than the flight recorder can keep them (1.0 MiB)' \
	"$TMP/kymod.log"
expect_exit 0 "$KYMO" status cramped --bus "$BUS"
assert_contains "$TMP/stdout" '^    keeps:    4\.0 MiB instead of 8\.0 MiB: ' "the limit of its memory"
expect_exit 0 "$KYMO" status cramped --json --bus "$BUS"
assert_eq "$(json "$TMP/stdout" '.[0].flight_limit')" 4194304 "the limit of its memory"
assert_eq "$(busctl --address="$BUS" get-property org.kymo.Trace1 /org/kymo/Trace1/session/cramped \
	org.kymo.Trace1.Session FlightLimit)" "t 4194304" "property FlightLimit"
expect_soon 5 grep -qF 'session/cramped: the flight recorder keeps 4.0 MiB instead of 8.0 MiB' \
	"$TMP/kymod.log"
expect_soon 5 grep -qF 'session/dear: stopped stacks: overhead 7.00% of a CPU, limit 5.00%' \
	"$TMP/kymod.log"
expect_exit 3 "$KYMO" stop flood --bus "$BUS"
assert_contains "$TMP/stderr" 'flood: events came faster .* 4\.0 KiB .* enlarge it with --keep-size' \
	"the message about it at its end"
expect_exit 3 "$KYMO" stop dear --bus "$BUS"

note "text of others cannot control the terminal"
bus_call() {
	busctl --address="$BUS" call org.kymo.Trace1 "$@"
}
evil=$'evil \302\2332J \033[2J \177'
bus_call /org/kymo/Trace1 org.kymo.Trace1.Manager CreateSession 'sa{sv}' evil 3 mode s flight linger b true command s "$evil" >/dev/null
for way in '' --json; do
	# shellcheck disable=SC2086 # may be none
	expect_exit 0 "$KYMO" status $way evil --bus "$BUS"
	assert_contains "$TMP/stdout" 'evil \\u009b2J \\u001b\[2J \\u007f' "the collection, by status $way"
	# shellcheck disable=SC2086
	expect_exit 1 "$KYMO" status $way "$evil" --bus "$BUS"
	assert_eq "$(LC_ALL=C tr -d '\n -~' <"$TMP/stderr")" $'\357\277\275\357\277\275\357\277\275' "the replaced characters in the message"
done
bus_call /org/kymo/Trace1/session/evil org.kymo.Trace1.Session Remove

note "busctl"
bus() {
	expect_exit 0 busctl --address="$BUS" "$@"
}
bus tree org.kymo.Trace1
assert_says "$TMP/stdout" '/org/kymo/Trace1/session/one' "tree"
bus introspect org.kymo.Trace1 /org/kymo/Trace1
for member in '\.CreateSession +method +sa\{sv\} +o' '\.Version +property +s +"'"$version"'" +const' \
	'\.Usage +property +a\{s\(tttt\)\}' '\.SessionAdded +signal +so'; do
	assert_contains "$TMP/stdout" "^$member" "the output of busctl for the manager"
done
bus introspect org.kymo.Trace1 /org/kymo/Trace1/session/one
for member in '\.Stop +method +- +-' '\.State +property +s +"running" +emits-change' \
	'\.Name +property +s +"one" +const' '\.Finished +signal +s'; do
	assert_contains "$TMP/stdout" "^$member" "the output of busctl for a session"
done
bus --json=short get-property org.kymo.Trace1 /org/kymo/Trace1/session/two org.kymo.Trace1.Session State
assert_eq "$(json "$TMP/stdout" .data)" running "a property"
bus call org.kymo.Trace1 /org/kymo/Trace1 org.kymo.Trace1.Manager GetSession s two
assert_line "$TMP/stdout" 'o "/org/kymo/Trace1/session/two"' "a call"
expect_exit 1 busctl --address="$BUS" call org.kymo.Trace1 /org/kymo/Trace1 org.kymo.Trace1.Manager GetSession s none
assert_says "$TMP/stderr" "there is no session 'none'" "the sentence of a refusal"
bus call org.kymo.Trace1 /org/kymo/Trace1/session/two org.kymo.Trace1.Session Mark s "by busctl"
bus call org.kymo.Trace1 /org/kymo/Trace1/session/two org.kymo.Trace1.Session Stop
bus call org.kymo.Trace1 /org/kymo/Trace1/session/two org.kymo.Trace1.Session Remove
assert_says "$TMP/two" 'by busctl' "the mark in the archive"

if command -v gdbus >/dev/null; then
	note "gdbus"
	expect_exit 0 gdbus introspect --address "$BUS" --dest org.kymo.Trace1 \
		--object-path /org/kymo/Trace1/session/one
	assert_says "$TMP/stdout" "readonly s State = 'running'" "the output of gdbus for a session"
	expect_exit 0 gdbus call --address "$BUS" --dest org.kymo.Trace1 --object-path /org/kymo/Trace1 \
		--method org.kymo.Trace1.Manager.ListSessions
	assert_contains "$TMP/stdout" "'one', (objectpath )?'/org/kymo/Trace1/session/one', 'running'" "a call"
fi

note "another version"
stop_kymod
KYMOD=$KYMOD_OTHER start_kymod
expect_exit 0 "$KYMO" list --bus "$BUS"
assert_eq "$(cat "$TMP/stderr")" "kymo: this is version $version, and the service is version 9.9.9" "the message"
expect_exit 0 "$KYMO" status --json --bus "$BUS"
assert_eq "$(json "$TMP/stdout" .service.version)" 9.9.9 "version"
assert_eq "$(wc -l <"$TMP/stderr")" 1 "how often it is said"
"$KYMO" record --bus "$BUS" -d 200ms -o "$TMP/recorded" 2>"$TMP/stderr"
assert_eq "$(grep -cF 'is version 9.9.9' "$TMP/stderr")" 1 "the message about a recording"
stop_kymod
