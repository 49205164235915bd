#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The verbs that use the service, with real recordings.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus

start_bus
start_kymod
remember_bpf

# kymo VERB WORD ... on the test's bus
ask() {
	local verb=$1

	shift
	"$KYMO" "$verb" --bus "$BUS" "$@"
}

# has_events NAME: the session NAME has recorded events.
has_events() {
	[ "$(ask status "$1" --json | gojq '.[0].events')" -gt 0 ]
}

# A session that continues after `kymo start`, and is marked, shown and stopped.
expect_exit 0 ask start one -o "$TMP/one.fxt" -b 1M
expect_exit 0 ask list
assert_contains "$TMP/stdout" '^one +running ' "list"
expect_exit 0 ask list --json
assert_eq "$(json "$TMP/stdout" '.[0].path')" /org/kymo/Trace1/session/one "object of the session"
expect_soon 20 has_events one
expect_exit 0 ask mark one 'a mark of the test'
expect_exit 0 ask context one begin work
assert_eq "$(cat "$TMP/stdout")" 1 "the bit of the first context"
expect_exit 1 ask context one begin work
assert_says "$TMP/stderr" "'work' is open already" "complaint"
expect_exit 0 ask context one end work
expect_exit 1 ask context one end work
assert_says "$TMP/stderr" "the context 'work' is not open" "complaint"
expect_exit 2 ask context one middle work
expect_exit 0 ask status one --json
assert_eq "$(json "$TMP/stdout" '.[0].state')" running "state"
assert_eq "$(json "$TMP/stdout" '.[0].options.ring_bytes')" 1048576 "ring_bytes"
assert_ge "$(json "$TMP/stdout" '.[0].events')" 1 "events"
expect_exit 0 ask monitor one -n 2 --json
assert_eq "$(wc -l <"$TMP/stdout")" 2 "lines of monitor"
expect_exit 1 ask start one -o "$TMP/two.fxt"
assert_says "$TMP/stderr" "the session 'one' exists already" "complaint about a name that is taken"
[ ! -e "$TMP/two.fxt" ] || fail "a session that could not be made left its file behind"
expect_recorded "$TMP/one.fxt" ask stop one --json
assert_eq "$(json "$TMP/stdout" .reason)" requested "reason"
assert_contains "$TMP/stderr" '^one: .* events, ' "the message of stop"
expect_exit 0 "$KYMO" check "$TMP/one.fxt"
dump_records "$TMP/one.fxt"
assert_eq "$(events mark | gojq -r .args.text)" 'a mark of the test' "mark"
assert_eq "$(events context | gojq -r '"\(.args.name) \(.args.id) \(.args.begin)"')" $'work 1 true\nwork 1 false' "contexts"
expect_exit 0 ask list
assert_empty "$TMP/stdout" "list after stop"

# Options of the profiler, as the session and the archive show them.
expect_exit 0 ask start two -o "$TMP/profiler.fxt" -e sched,profile,offcpu -F 1000 --offcpu-min 2ms --no-perfetto-blobs
"$KYMO_LOAD" spin 100 >/dev/null # (so that there are samples)
expect_exit 0 ask status two --json
assert_eq "$(json "$TMP/stdout" '.[0].options | "\(.frequency) \(.offcpu_min_ns) \(.no_perfetto_blobs)"')" \
	"1000 2000000 true" "options of the profiler"
# The text shows times with units, and not in nanoseconds.
expect_exit 0 ask status two
assert_says "$TMP/stdout" 'offcpu_min 2.00 ms' "options for people"
! grep -E '[a-z]_(ns|bytes|ppm) ' "$TMP/stdout" >&2 || fail "options that are for programs"
expect_recorded "$TMP/profiler.fxt" ask stop two
dump_records "$TMP/profiler.fxt"
assert_eq "$(events sampling | gojq -r '.args | "\(.frequency) \(.threshold)"')" "1000 2000000" "how it samples"
summarize "$TMP/profiler.fxt"
assert_ge "$(json "$SUMMARY" .profile.samples)" 1 "samples"
assert_eq "$("$KYMO" dump "$TMP/profiler.fxt" | grep -c 'blob .*perfetto_samples' || true)" 0 "copies of the samples"
expect_exit 0 ask start two -o "$TMP/profiler.fxt" --force -e profile
expect_exit 0 ask status two --json
assert_eq "$(json "$TMP/stdout" '.[0].options | "\(.frequency) \(.no_perfetto_blobs)"')" "99 false" "default options"
expect_recorded "$TMP/profiler.fxt" ask stop two

# record through the service. Its session ends with it.
expect_recorded "$TMP/short.fxt" ask record -d 300ms -o "$TMP/short.fxt"
assert_contains "$TMP/stderr" '^.*short\.fxt: .* events, ' "the message of record"
expect_exit 0 "$KYMO" check "$TMP/short.fxt"
expect_exit 7 ask record -o "$TMP/command.fxt" -- sh -c 'exit 7'
assert_says "$TMP/stderr" 'sh exited with 7' "the message about the command"
expect_exit 0 "$KYMO" check "$TMP/command.fxt"
# The command says that it waits for the recording. Another process does not.
expect_exit 0 ask record -e fd -o "$TMP/waits.fxt" -- "$KYMO" status --bus "$BUS" --json
assert_eq "$(json "$TMP/stdout" '.sessions[0].options.command_waits')" true "the option of a command that waits"
sleep 300 &
sleeper=$!
expect_exit 0 ask start process -p $sleeper -e sched -o "$TMP/process.fxt"
expect_exit 0 ask status process --json
assert_eq "$(json "$TMP/stdout" '.[0].options.command_waits')" false "the option of a process that runs"
expect_recorded "$TMP/process.fxt" ask stop process
kill $sleeper
record_to_pipe() {
	"$KYMO" record --bus "$BUS" -d 300ms -o - | cat >"$TMP/piped.fxt"
}
expect_recorded "$TMP/piped.fxt" record_to_pipe
expect_exit 0 "$KYMO" check "$TMP/piped.fxt"
expect_soon 5 has_no_sessions

# Ctrl-C completes a recording, and so does a kill of the client.
"$KYMO" record --bus "$BUS" -o "$TMP/interrupted.fxt" 2>"$TMP/log" &
pid=$!
expect_soon 5 test -s "$TMP/interrupted.fxt"
kill -INT $pid
expect_recorded "$TMP/interrupted.fxt" finished $pid "$TMP/log"
expect_exit 0 "$KYMO" check "$TMP/interrupted.fxt"
"$KYMO" record --bus "$BUS" -o "$TMP/orphan.fxt" 2>"$TMP/log" &
pid=$!
expect_soon 5 test -s "$TMP/orphan.fxt"
kill -KILL $pid
expect_soon 10 has_no_sessions
expect_exit 0 "$KYMO" check "$TMP/orphan.fxt"
dump_records "$TMP/orphan.fxt"
assert_eq "$(events session_stop | gojq -r .args.reason)" 'owner gone' "reason"

# The capabilities of the service are those of this process.
expect_exit 0 ask capabilities --json
cp "$TMP/stdout" "$TMP/service.json"
expect_exit 0 "$KYMO" capabilities --direct --json
assert_eq "$(gojq keys "$TMP/service.json")" "$(gojq keys "$TMP/stdout")" "capabilities"

no_bpf_left "all sessions"

# If a limit of the service is too low, start fails with the reason, and leaves nothing behind.
# start_poor_kymod LIMIT: starts the service with this limit (of prlimit), and without the
# capability to exceed it.
start_poor_kymod() {
	RUNTIME_DIRECTORY=$TMP/poor prlimit "$1" setpriv --bounding-set=-ipc_lock --no-new-privs \
		"$KYMOD" --bus "$POOR" >"$TMP/poor.log" 2>&1 &
	poor=$!
	expect_soon 10 "$KYMO" list --bus "$POOR"
}

# expect_no_start NAME TEXT: start fails with TEXT on standard error, and leaves no session and no
# file.
expect_no_start() {
	expect_exit 1 "$KYMO" start "$1" --bus "$POOR" -o "$TMP/$1.fxt" -b 8M
	assert_contains "$TMP/stderr" "$2" "why session $1 does not start"
	[ ! -e "$TMP/$1.fxt" ] || fail "a session that could not start left its file behind"
	expect_soon 5 is_not_listed "$1"
}
is_not_listed() {
	"$KYMO" list --bus "$POOR" >"$TMP/listed" && ! grep "^$1 " "$TMP/listed"
}

ours=$BUS
TMP=$TMP/other
mkdir "$TMP"
start_bus
TMP=${TMP%/other}
POOR=$BUS BUS=$ours
# (enough for the service and a call, and for some maps or programs)
for files in 84 95 110; do
	start_poor_kymod --nofile=$files
	expect_no_start poor$files 'Too many open files; .* \(ulimit -n; LimitNOFILE='
	terminate $poor kymod
done
# Each user can lock some memory, in all processes together: one or two sessions can start before
# the limit.
start_poor_kymod --memlock=0
for n in 1 2 3 4; do
	"$KYMO" start locked"$n" --bus "$POOR" -o "$TMP/locked$n.fxt" -b 8M >/dev/null 2>&1 || break
done
[ "$n" -lt 4 ] || fail "memory is locked without a limit"
expect_no_start locked"$n" 'locked memory .*LimitMEMLOCK='
! grep CAP_ "$TMP/stderr" || fail "capabilities are blamed for a limit"
terminate $poor kymod
no_bpf_left "sessions that could not start"

# The service ends during a session: the archive is complete, and nothing is left in the kernel.
expect_exit 0 ask start last -o "$TMP/last.fxt"
expect_soon 20 has_events last
stop_kymod
expect_exit 0 "$KYMO" check "$TMP/last.fxt"
no_bpf_left "the service"
