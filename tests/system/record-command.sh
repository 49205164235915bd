#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `kymo record -- COMMAND` and Ctrl-C: the command, the messages, and a complete file.

. "$(dirname "$0")/../lib.sh"
need_btf

# complete FILE REASON
complete() {
	expect_exit 0 "$KYMO" check "$1"
	dump_records "$1"
	events session_stop | gojq -r .args.reason >"$TMP/reason"
	assert_eq "$(wc -l <"$TMP/reason")" 1 "session_stop events"
	[ $# = 1 ] || assert_line "$TMP/reason" "$2" "reason of the stop"
}

# kymo's exit status is the command's, and kymo also prints it.
expect_exit 0 "$KYMO" record --direct -o "$TMP/true.fxt" -- sh -c 'echo said by the command; exit 0'
assert_line "$TMP/stdout" 'said by the command' "output of the command"
complete "$TMP/true.fxt"
expect_exit 42 "$KYMO" record --direct --json -o "$TMP/false.fxt" -- sh -c 'exit 42'
assert_eq "$(json "$TMP/stdout" .command_status)" 42 "command_status"
assert_says "$TMP/stderr" 'sh exited with 42' "the message about the command's exit status"
complete "$TMP/false.fxt"
expect_exit $((128 + $(kill -l USR1))) "$KYMO" record --direct -o "$TMP/killed.fxt" -- sh -c 'kill -USR1 $$'
assert_says "$TMP/stderr" 'sh was killed by SIGUSR1' "the message about the command's death"
complete "$TMP/killed.fxt"
for chosen in "" "-e fd"; do
	# shellcheck disable=SC2086 # words
	{
		expect_exit 127 "$KYMO" record --direct $chosen -o "$TMP/none.fxt" -- "$TMP/no-such-program"
		assert_contains "$TMP/stderr" 'cannot execute .*no-such-program' "the message about no command"
		expect_exit 126 "$KYMO" record --direct $chosen -o "$TMP/none.fxt" -- "$TMP"
	}
	[ ! -e "$TMP/none.fxt" ] || fail "an archive of no command"
done
expect_exit 125 "$KYMO" record --direct -o "$TMP/no-such-directory/t.fxt" -- true
expect_exit 2 "$KYMO" record --direct -o - -- true
# The same applies to kymo leaks, except with --fail-over.
expect_exit 5 "$KYMO" leaks --direct -e fd -- sh -c 'exit 5'
expect_exit 0 "$KYMO" leaks --direct -e fd -- true
for command in true false; do
	# (the shell has blocks that it never frees)
	expect_exit 4 timeout "$(limit 20)" "$KYMO" leaks --direct -e memory --fail-over 0 -- bash -c "$command"
done
expect_exit 127 "$KYMO" leaks --direct -e fd -- "$TMP/no-such-program"
expect_exit 125 "$KYMO" leaks --direct -e fd -o "$TMP/no-such-directory/t.fxt" -- true

# The command's options are its own, and its arguments stay apart.
expect_exit 0 "$KYMO" record --direct -o "$TMP/args.fxt" -- printf '%s|' -d 'two words' --help
assert_line "$TMP/stdout" '-d|two words|--help|' "arguments of the command"

# The recording has the command from its first instruction.
summarize "$TMP/args.fxt"
assert_ge "$(json "$SUMMARY" '[.processes[] | select(.name == "printf")] | length')" 1 \
	"processes called printf"

# If -d ends the recording while the command still runs, kymo does not wait for the command.
expect_recorded "$TMP/long.fxt" timeout "$(limit 10)" "$KYMO" record --direct -d 300ms -o "$TMP/long.fxt" -- \
	bash -c 'echo $$ >"$0"; exec sleep 30' "$TMP/long.pid"
complete "$TMP/long.fxt" duration
expect_soon 10 test -s "$TMP/long.pid"
kill "$(cat "$TMP/long.pid")"

# Also if SIGCHLD is ignored, as some parent processes set it.
expect_exit 0 timeout "$(limit 10)" bash -c "trap '' CHLD; exec \"\$@\"" - \
	"$KYMO" record --direct -o "$TMP/ignored.fxt" -- true
complete "$TMP/ignored.fxt" requested

# Ctrl-C and similar signals.
for signal in INT TERM; do
	"$KYMO" record --direct -o "$TMP/$signal.fxt" 2>"$TMP/log" &
	pid=$!
	expect_soon 10 test -s "$TMP/$signal.fxt"
	sleep 0.3
	kill -$signal $pid
	expect_recorded "$TMP/$signal.fxt" finished $pid "$TMP/log"
	complete "$TMP/$signal.fxt"
done

# The time of loading the programs does not count as cost of the recording.
TIMEFORMAT='%3U %3S'
{ time "$KYMO" record --direct -e sched -d 10ms -o "$TMP/short.fxt" 2>/dev/null; } 2>"$TMP/took"
unset TIMEFORMAT
"$KYMO" summary --json "$TMP/short.fxt" >"$TMP/short.json"
took_us=$(awk '{ printf "%d", ($1 + $2) * 1e6 }' "$TMP/took")
charged_us=$(json "$TMP/short.json" '.daemon_cpu_ns / 1000 | floor')
[ $((3 * charged_us)) -lt $((2 * took_us)) ] ||
	fail "$charged_us of $took_us us of CPU time are charged to a recording of 10 ms"

# The duration begins when everything is recorded: samples begin later than switches.
expect_recorded "$TMP/only.fxt" "$KYMO" record --direct -e sched -d 100ms -o "$TMP/only.fxt"
expect_recorded "$TMP/both.fxt" "$KYMO" record --direct -e sched,profile -d 100ms -o "$TMP/both.fxt"
for archive in only both; do
	"$KYMO" summary --json "$TMP/$archive.fxt" >"$TMP/$archive.json"
done
assert_eq "$(json "$TMP/only.json" .duration_ns)" 100000000 "ns of a recording of switches"
assert_ge "$(json "$TMP/both.json" .duration_ns)" 100000001 "ns of a recording of switches and samples"

# or_lost COMMAND ...: COMMAND succeeds, or says by its exit status that records were lost. (It
# records all that the machine does.)
or_lost() {
	"$@" || [ $? = 3 ]
}

# The output can be a pipe, and the archive can be read from a pipe.
or_lost "$KYMO" record --direct -d 300ms -o - 2>"$TMP/log" | or_lost "$KYMO" summary --json - >"$TMP/piped.json" ||
	fail "recording to a pipe: $(cat "$TMP/log")"
assert_ge "$(json "$TMP/piped.json" .events.switch)" 1 "switches through a pipe"

# kymo does not wait for the reader of a named pipe.
mkfifo "$TMP/fifo"
expect_exit 1 timeout "$(limit 10)" "$KYMO" record --direct -d 100ms --force -o "$TMP/fifo"
assert_says "$TMP/stderr" 'a pipe without a reader' "the message about a pipe that nobody reads"
"$KYMO" check "$TMP/fifo" >"$TMP/read" 2>&1 &
pid=$!
wait_for 10 or_lost "$KYMO" record --direct -d 300ms --force -o "$TMP/fifo" ||
	fail "recording to a named pipe"
wait $pid || fail "the output of a named pipe: $(cat "$TMP/read")"

# With closed standard descriptors, neither messages nor the command's output get into the archive.
or_lost "$KYMO" record --direct -d 300ms -o "$TMP/closed.fxt" >&- 2>&- || fail "recording without descriptors"
complete "$TMP/closed.fxt" duration
"$KYMO" record --direct -o "$TMP/closed3.fxt" -- sh -c 'echo x; echo y >&2; exit 0' <&- >&- 2>&- ||
	fail "recording a command without descriptors"
complete "$TMP/closed3.fxt"

# /dev/null as output.
expect_recorded - "$KYMO" record --direct --duration 200ms -o /dev/null
assert_contains "$TMP/stderr" '^/dev/null: .* events, ' "the message about /dev/null"
or_lost "$KYMO" record --direct -d 200ms -o - >/dev/null 2>"$TMP/log" || fail "recording to /dev/null: $(cat "$TMP/log")"
[ -c /dev/null ] || fail "/dev/null is gone"

# The default categories, and others.
expect_recorded "$TMP/more.fxt" "$KYMO" record --direct -e default,offcpu -d 300ms -o "$TMP/more.fxt"
expect_recorded "$TMP/all.fxt" "$KYMO" record --direct -e all -d 300ms -o "$TMP/all.fxt"
expect_exit 0 "$KYMO" record -e help
for archive in more:default,offcpu all:all; do
	dump_records "$TMP/${archive%%:*}.fxt"
	events session_start | gojq -r .args.options >"$TMP/options"
	words=$(sed -n 's|.*categories=\([a-z,-]*\).*|\1|p' "$TMP/options")
	case ${archive#*:} in
	all) assert_eq "$words" sched,irq,softirq,workqueue,power,block,counters,profile,offcpu,waker-stacks "categories of -e all" ;;
	*) assert_eq "$words" sched,profile,offcpu "categories of -e default,offcpu" ;;
	esac
done

# An existing file stays until there is another recording, which has its owner and mode.
mkdir "$TMP/replace"
old=$TMP/replace/old.fxt
echo precious >"$old"
chown 65534:65534 "$old"
chmod 640 "$old"
expect_exit 127 "$KYMO" record --direct --force -o "$old" -- "$TMP/no-such-program"
expect_exit 1 "$KYMO" record --direct --force -o "$old" --call "$TMP/no-such-file:f" -- true
expect_exit 127 "$KYMO" leaks --direct -e fd --force -o "$old" -- "$TMP/no-such-program"
assert_eq "$(cat "$old")" precious "the file after recordings that did not start"
ln -s old.fxt "$TMP/replace/link"
"$KYMO" record --direct --force -o "$TMP/replace/link" -- \
	bash -c 'echo $$ >"$0"; exec sleep 300' "$TMP/replace.pid" 2>"$TMP/log" &
pid=$!
# (the archive being recorded has the name early)
expect_soon 20 sh -c '! grep -qx precious "$1" && test -s "$1"' - "$old"
# (before its command begins, a recording is given up)
expect_soon 20 test -s "$TMP/replace.pid"
kill -INT $pid
wait $pid || true
kill "$(cat "$TMP/replace.pid")"
complete "$old"
assert_eq "$(stat -c %u:%g:%a "$old")" 65534:65534:640 "owner and mode of the new file"
assert_eq "$(readlink "$TMP/replace/link")" old.fxt "the link"
chmod 1777 "$TMP/replace"
chown -h 65534 "$TMP/replace/link"
expect_exit 1 "$KYMO" record --direct -d 100ms --force -o "$TMP/replace/link"
assert_says "$TMP/stderr" "the symbolic link $TMP/replace/link belongs to another user" "the message about a link of another user"
complete "$old"
assert_eq "$(find "$TMP/replace" -mindepth 1 | wc -l)" 2 "files in the directory"
# A file that is mounted on its own keeps its place.
touch "$TMP/replace/mounted"
expect_exit 0 unshare --mount sh -c 'mount --bind "$1" "$2" && exec "$3" record --direct -d 100ms --force -o "$2"' - \
	"$old" "$TMP/replace/mounted" "$KYMO"
complete "$old" duration
[ ! -s "$TMP/replace/mounted" ] || fail "the file under a mounted file has data"

# Wrong usage gives a readable error.
expect_exit 2 "$KYMO" record --force=1
assert_says "$TMP/stderr" "option '--force' takes no value" "a needless value"
expect_exit 2 "$KYMO" record --unit
assert_says "$TMP/stderr" "option '--unit' needs a value" "a missing value"
expect_exit 2 "$KYMO" record --json -qh
assert_says "$TMP/stderr" "unknown option '-q'" "an unknown letter"
expect_exit 2 "$KYMO" check --help=1
assert_says "$TMP/stderr" "option '--help' takes no value" "a needless value"
(cd "$TMP" && expect_exit 2 "$KYMO" record -o -- foo)
assert_says "$TMP/stderr" "unexpected argument 'foo'" "a command without '--'"

# Only the owner can read the file. Without -o, it gets a unique name.
(cd "$TMP" && mkdir default && cd default && or_lost "$KYMO" record --direct -d 100ms 2>"$TMP/log") ||
	fail "recording without -o: $(cat "$TMP/log")"
assert_eq "$(find "$TMP/default" -name 'kymo-*.fxt' -perm 600 | wc -l)" 1 \
	"files with the default name and mode 0600"

# timeout(1) signals the process, and then its group: that is not a second Ctrl-C.
for _ in 1 2 3; do
	rm -f "$TMP/twice.fxt"
	"$KYMO" record --direct -d 60 -o "$TMP/twice.fxt" 2>"$TMP/log" &
	pid=$!
	expect_soon 10 test -s "$TMP/twice.fxt"
	kill -TERM $pid
	kill -TERM $pid
	expect_recorded "$TMP/twice.fxt" finished $pid "$TMP/log"
	expect_exit 0 "$KYMO" check "$TMP/twice.fxt"
done

# A Ctrl-C while the kernel does not finish executing the command: the reason, and no file.
hangs_in_exec() {
	pgrep -x -P "$1" kymo >"$TMP/child" && grep -q lease "/proc/$(cat "$TMP/child")/wchan"
}
cp "$(type -P true)" "$TMP/leased"
"$HOLD_LEASE" "$TMP/leased" >"$TMP/lease" &
lease=$!
expect_soon 5 grep -qx held "$TMP/lease"
for signal in INT TERM; do
	"$KYMO" record --direct -e sched -o "$TMP/leased.fxt" -- "$TMP/leased" 2>"$TMP/log" &
	pid=$!
	expect_soon 20 hangs_in_exec $pid
	kill -$signal $pid
	status=0
	wait $pid || status=$?
	assert_eq $status $((128 + $(kill -l $signal))) "exit status after SIG$signal in exec"
	assert_says "$TMP/log" "interrupted: the kernel did not finish executing $TMP/leased" \
		"the message about a hanging exec"
	[ ! -e "$TMP/leased.fxt" ] || fail "an archive of a command that was not executed"
done
# (the next command waits until the file can be executed)
"$KYMO" record --direct -e sched -o "$TMP/leased.fxt" -- "$TMP/leased" 2>"$TMP/log" &
pid=$!
expect_soon 20 hangs_in_exec $pid
kill $lease
wait $pid || fail "a command that was executed late: $(cat "$TMP/log")"
complete "$TMP/leased.fxt"
