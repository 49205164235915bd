#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A command is held at its exit until its memory was searched: however it ends, its losses are
# reported like by memcheck, and it ends as it would have without kymo.

. "$(dirname "$0")/../lib.sh"
need_btf
ulimit -c 0

# found FILE: prints the planted blocks by size and reach
found() {
	dump_records "$1"
	events block | gojq -rs 'map(.args) | group_by([.size, .reach]) | .[] | "\(.[0].size) \(.[0].reach) \(length)"' |
		grep -E '^(200|240|280|320|360|440) ' || true
}

# planted N: prints the lost blocks of N plants
planted() {
	cat <<-END
		200 lost $((5 * $1))
		240 reachable $((6 * $1))
		280 possible $((3 * $1))
		320 indirect $((6 * $1))
		360 lost $((3 * $1))
		440 indirect $((3 * $1))
		440 lost $((1 * $1))
	END
}

# no_answers FILE: checks that blocks were found, and that none has a result of the search
no_answers() {
	found "$1" >"$TMP/found"
	assert_eq "$(cut -d' ' -f2 "$TMP/found" | sort -u)" null "answers about blocks"
}

# gap FILE: prints the reason why probes can have been missing
gap() {
	dump_records "$1"
	events watched | gojq -r '.args.text // empty'
}

# late FILE: prints how many processes of the load kymo reports as watched too late. A child
# allocates 0.4 s after its fork, so that its watch has begun, unless the machine is busy.
late() {
	{ "$KYMO" leaks --json --allow-unwatched "$1" 2>/dev/null || true; } |
		gojq '[.processes[] | select(.process == "exit-load" and .reason != "exec" and
			((.gap // .unwatched) or (.forked_ns and .begin_ns - .forked_ns > 400e6)))] | length'
}

# check_found FILE N
check_found() {
	planted "$2" >"$TMP/planted"
	found "$1" >"$TMP/found"
	diff "$TMP/planted" "$TMP/found" >&2 || {
		cat "$TMP/complaints" >&2
		fail "the reported leaks (>) differ from the planted ones (<); complete: $(gap "$1")"
	}
	assert_empty "$TMP/complaints" "complaints"
}

is_state() {
	[[ $(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$2/status") = [$1] ]]
}

# ends STATUS PLANTS HOW ...: records the load, which ends by HOW, with $options
options=(--direct --reach look)
ends() {
	local status=$1 plants=$2 how=$3

	shift 2
	note "${options[*]}: $*"
	expect_exit "$status" timeout "$(limit 60)" "$KYMO" record --force -e memory "${options[@]}" -o "$TMP/t.fxt" -- \
		"$EXIT_LOAD" "$@"
	grep '^kymo' "$TMP/stderr" >"$TMP/complaints" || true
	# (it can end, or execute the next program, before another thread has the probes of the first one)
	if [[ $how = last || $how = alone || $how = lastexec ]] && [ "$(gap "$TMP/t.fxt")" ]; then
		note "not complete: $(gap "$TMP/t.fxt")"
	elif [[ " $how $* " = *fork\ * ]] && [ "$(late "$TMP/t.fxt")" != 0 ]; then
		note "$(late "$TMP/t.fxt") processes were watched too late, which is reported"
	elif [ "$plants" != 0 ]; then
		check_found "$TMP/t.fxt" "$plants"
	fi
}

ends 0 1 return
ends 5 1 exit
ends 7 1 thread
ends 7 1 last
ends 0 1 alone
ends $((128 + 6)) 1 abort
ends $((128 + 11)) 1 segv
ends 0 2 fork
ends 0 2 threadfork
# It has nothing of its own.
ends 1 0 exec "$(type -P false)"
# An exec by another thread waits for the end of the first thread. The new program is watched and
# held.
ends 1 0 threadexec "$(type -P false)"
ends 0 2 threadexec "$EXIT_LOAD" fork
for _ in {1..5}; do
	ends 0 2 lastexec "$EXIT_LOAD" fork
done
options=(--direct --reach freeze)
ends 5 1 exit
ends 0 2 threadexec "$EXIT_LOAD" fork

note "the stacks of ended threads are no references"
ends 0 0 ended
assert_eq "$(found "$TMP/t.fxt" | grep '^200 ')" "200 lost 10" "blocks of ended threads, and of the first one"

note "only the kernel knows the stack for signals of a thread that the exit kills"
ends 0 1 aside
assert_eq "$(events block | gojq -rs 'map(.args | select(.size == 16384) | .reach) | join(" ")')" epoll "the stack for signals"

note "pointers in the own memory of other allocators are no references"
libc_load=$EXIT_LOAD
for EXIT_LOAD in "$libc_load-jemalloc" "$libc_load-tcmalloc"; do
	[ ! -x "$EXIT_LOAD" ] || ends 5 1 exit
done
EXIT_LOAD=$libc_load

note "what the C library allocates for threads is the same if threads are recorded, too"
for categories in memory memory,threads; do
	expect_exit 7 timeout "$(limit 60)" "$KYMO" record --direct --force -e "$categories" --reach look -o "$TMP/t.fxt" -- \
		"$EXIT_LOAD" thread
	dump_records "$TMP/t.fxt"
	events block | gojq -rs 'map(.args | select(.resource == "memory") | "\(.function) \(.size)") | sort[]' >"$TMP/$categories"
done
assert_contains "$TMP/memory" '^calloc ' "the blocks for threads"
diff "$TMP/memory" "$TMP/memory,threads" >&2 || fail "the blocks with threads (>) differ from those without (<)"

note "the children of a program that traces others are left to it"
EXIT_LOAD=$TRACE_LOAD ends 0 0 trace
assert_says "$TMP/complaints" 'trace-load uses ptrace, so its children are not held' "the message about a tracer"
# (a register can have the address of the last block)
found "$TMP/t.fxt" >"$TMP/found"
assert_contains "$TMP/found" '^200 lost [45]$' "blocks of the tracer"
if [ -x "$TRACE_LOAD-static" ]; then
	EXIT_LOAD=$TRACE_LOAD-static ends 0 0 trace
	assert_says "$TMP/complaints" 'uses ptrace, so its children are not held' "the message about a static tracer"
else
	note "not tested: a static tracer (there is no static C library)"
fi
note "many programs that trace others have ended"
EXIT_LOAD=bash ends 0 0 -c 'for _ in {1..66}; do "$0" || exit 1; done; "$1" threadfork' "$TRACE_LOAD" "$libc_load"
found "$TMP/t.fxt" >"$TMP/found"
# (so many programs have to be checked that these can be late)
n=$(late "$TMP/t.fxt")
if [ "$n" != 0 ]; then
	note "$n processes were watched too late, which is reported"
else
	assert_contains "$TMP/found" '^360 lost 6$' "blocks of a child of another thread, and of its parent"
fi
note "more programs that trace others at the same time than are remembered"
cc -o "$TMP/pauses" -x c - <<-'END'
	#include <sys/ptrace.h>
	#include <unistd.h>

	int main(int argc, char **argv)
	{
		if (argc > 2)
			return ptrace(PTRACE_TRACEME, 0, 0, 0) < 0;
		if (write(1, "\n", 1) == 1)
			pause();
		return 0;
	}
END
# shellcheck disable=SC2016 # it is another shell's
EXIT_LOAD=bash ends 0 0 -c 'for _ in {1..66}; do "$0" & done >"$1"
	for ((i = 0; i < $3; i++)); do [ "$(wc -l <"$1")" != 66 ] || break; sleep 0.1; done
	kill -KILL $(jobs -p); wait
	( ( "$2" fork; : ); : )
	[ "$i" -lt "$3" ]' "$TMP/pauses" "$TMP/lines-of-tracers" "$libc_load" $((10 * $(limit 20)))
assert_says "$TMP/complaints" 'more than 64 programs may have used ptrace at the same time (2 more)' \
	"the message"
# (first threads forked them, and their parents; so many programs have to be checked that they can
# be late)
found "$TMP/t.fxt" >"$TMP/found"
n=$(late "$TMP/t.fxt")
if [ "$(gap "$TMP/t.fxt")" ]; then
	note "not complete: $(gap "$TMP/t.fxt")"
elif [ "$n" != 0 ]; then
	note "$n processes were watched too late, which is reported"
else
	assert_contains "$TMP/found" '^360 lost 6$' "blocks of two descendants"
fi
if command -v strace >/dev/null; then
	expect_exit 5 timeout "$(limit 60)" "$KYMO" record --direct --force -e memory --reach freeze -o "$TMP/t.fxt" -- \
		strace -f -o "$TMP/strace.log" "$EXIT_LOAD" exit
	assert_says "$TMP/strace.log" 'exit_group(5)' "what strace has traced"
fi

note "a program that stops itself is reported"
"$KYMO" record --direct --force -e memory --reach look -o "$TMP/t.fxt" -- sh -c 'kill -STOP $$; exit 3' 2>"$TMP/stderr" &
RECORDER=$!
expect_soon 30 grep -qF 'has stopped itself (SIGSTOP)' "$TMP/stderr"
kill -CONT "$(sed -n 's/.*process \([0-9]*\) has stopped itself.*/\1/p' "$TMP/stderr")"
status=0
wait "$RECORDER" || status=$?
assert_eq "$status" 3 "exit status"

note "... also in a pid namespace, where it has another id"
: >"$TMP/stderr"
"$KYMO" record --direct --force -e memory --reach look -o "$TMP/t.fxt" -- \
	unshare -pf --mount-proc sh -c 'sh -c "kill -STOP \$\$; exit 3"; exit $?' 2>"$TMP/stderr" &
RECORDER=$!
expect_soon 30 grep -qF 'has stopped itself (SIGSTOP)' "$TMP/stderr"
kill -CONT "$(sed -n 's/.*process \([0-9]*\) has stopped itself.*/\1/p' "$TMP/stderr")"
status=0
wait "$RECORDER" || status=$?
assert_eq "$status" 3 "exit status"

note "a process that SIGKILL ends is not searched"
ends $((128 + 9)) 0 kill
assert_eq "$(wc -l <"$TMP/complaints")" 1 "complaints"
assert_says "$TMP/complaints" 'its memory could be searched' "the message about SIGKILL"
no_answers "$TMP/t.fxt"

note "where ptrace is refused: it says so, and searches while it runs, as well as it can"
if [ "${ALLOW_CALLS:-}" ]; then
	echo ptrace >"$TMP/calls"
	expect_exit 5 timeout "$(limit 60)" "$ALLOW_CALLS" "~$TMP/calls" "$KYMO" record --direct --force -e memory --reach look \
		-o "$TMP/t.fxt" -- "$EXIT_LOAD" exit
	assert_eq "$(grep -c '^kymo' "$TMP/stderr")" 1 "complaints"
	assert_contains "$TMP/stderr" 'cannot hold .*exit-load at its exit by ptrace: Operation not permitted; lost blocks' "the message"
	no_answers "$TMP/t.fxt"
	for reach in look freeze; do
		: >"$TMP/said"
		"$ALLOW_CALLS" "~$TMP/calls" "$KYMO" record --direct --force -e memory --reach "$reach" -o "$TMP/t.fxt" -- \
			"$EXIT_LOAD" wait >"$TMP/said" 2>"$TMP/stderr" &
		RECORDER=$!
		expect_soon 30 test -s "$TMP/said"
		LOAD=$(pgrep -x -P "$RECORDER" exit-load)
		kill -INT "$RECORDER"
		wait "$RECORDER" || fail "exit status $?: $(cat "$TMP/stderr")"
		planted 1 >"$TMP/planted"
		found "$TMP/t.fxt" >"$TMP/found"
		diff "$TMP/planted" "$TMP/found" >&2 || fail "the reported leaks (>) with $reach differ from the planted ones (<)"
		# (it may just be continued)
		expect_soon 5 is_state S "$LOAD"
		kill "$LOAD"
	done
else
	note "not tested: no libseccomp"
fi

note "memcheck says the same"
if command -v valgrind >/dev/null; then
	for how in return thread; do
		valgrind --leak-check=full --log-file="$TMP/valgrind.log" "$EXIT_LOAD" "$how" || true
		"$KYMO" record --direct --force -e memory --reach look -o "$TMP/t.fxt" -- "$EXIT_LOAD" "$how" 2>/dev/null || true
		dump_records "$TMP/t.fxt"
		for row in "definitely lost=lost" "indirectly lost=indirect" "possibly lost=possible" "still reachable=reachable"; do
			n=$(sed -n "s/.* ${row%=*}: .* bytes in \([0-9]*\) blocks/\1/p" "$TMP/valgrind.log")
			# (memcheck does not know that glibc points behind the begin of its table for a thread)
			assert_eq "$(events block | gojq -s --arg r "${row#*=}" 'map(.args | if .function == "calloc" and
				.reach == "reachable" and .size < 320 then "possible" else .reach end |
				select(. == $r)) | length')" \
				"$n" "blocks that are ${row%=*} ($how)"
		done
	done
fi

# waiting: records a load that waits for a signal. The pids are in $RECORDER and $LOAD.
waiting() {
	: >"$TMP/said"
	"$KYMO" record --force -e memory "${options[@]}" -o "$TMP/t.fxt" -- "$EXIT_LOAD" wait \
		>"$TMP/said" 2>"$TMP/stderr" &
	RECORDER=$!
	expect_soon 30 test -s "$TMP/said"
	LOAD=$(pgrep -x -P "$RECORDER" exit-load)
}

# ended STATUS
ended() {
	local status=0

	wait "$RECORDER" || status=$?
	assert_eq "$status" "$1" "exit status"
	grep '^kymo' "$TMP/stderr" >"$TMP/complaints" || true
}

is_gone() {
	[ ! -e "/proc/$1" ] || is_state Z "$1"
}

# is_pending PID: whether SIGWINCH is pending. It stays pending until the process continues.
is_pending() {
	((0x$(awk '/^ShdPnd/ { print $2 }' "/proc/$1/status") & 1 << 27))
}

options=(--direct --reach look)
note "a signal from outside; and job control before it"
waiting
kill -STOP "$LOAD"
expect_soon 5 is_state Tt "$LOAD"
kill -WINCH "$LOAD"
expect_soon 5 is_pending "$LOAD"
is_state Tt "$LOAD" || fail "it does not stay stopped"
kill -CONT "$LOAD"
expect_soon 5 is_state S "$LOAD"
kill -TERM "$LOAD"
ended $((128 + 15))
check_found "$TMP/t.fxt" 1

note "both are ended at once, as by Ctrl-C"
waiting
# (background jobs of a shell ignore SIGINT)
kill -TERM "$RECORDER" "$LOAD"
ended $((128 + 15))
check_found "$TMP/t.fxt" 1

note "stopped while the command runs, which goes on"
for reach in look freeze; do
	options=(--direct --reach "$reach")
	waiting
	kill -INT "$RECORDER"
	ended 0
	check_found "$TMP/t.fxt" 1
	expect_soon 5 is_state S "$LOAD"
	assert_eq "$(awk '/^TracerPid/ { print $2 }' "/proc/$LOAD/status")" 0 "its tracer"
	kill "$LOAD"
	expect_soon 5 is_gone "$LOAD"
done

runs_load() {
	pgrep -x -P "$RECORDER" exit-load >"$TMP/pid"
}

has_threads() {
	[ "$(find "/proc/$2/task" -mindepth 1 -maxdepth 1 | wc -l)" = "$1" ]
}

# leaving COMMAND ...: records a load whose first thread has ended. The pids are in $RECORDER and
# $LOAD.
leaving() {
	rm -f "$TMP/lines"
	mkfifo "$TMP/lines"
	exec 9<>"$TMP/lines"
	"$@" <"$TMP/lines" 2>"$TMP/stderr" 9>&- &
	RECORDER=$!
	LOAD=$RECORDER
	if [ "$1" != "$EXIT_LOAD" ]; then
		expect_soon 30 runs_load
		LOAD=$(cat "$TMP/pid")
	fi
	expect_soon 30 is_state Z "$LOAD"
}

# is_held: whether a thread other than the first one holds the probes
is_held() {
	find "/proc/$(pgrep -x -P "$RECORDER" kymo-probes)/fd" -lname 'anon_inode:*perf_event*' 2>/dev/null | grep . >/dev/null
}

# others_end: starts and stops a session with the same functions of another process
others_end() {
	"$KYMO" record --direct --force -e memory -o "$TMP/other.fxt" -- "$EXIT_LOAD" return 2>/dev/null
}

# has_watch_of PID: whether the archive has the begin of a watch of PID
has_watch_of() {
	"$KYMO" dump "$TMP/t.fxt" 2>/dev/null | grep "memory:watch .*thread=$1/" >/dev/null
}

note "the first thread ends, and the next one, while sessions on the same functions end"
# (a session of another test can end just when a thread does: then parts are missing, with a reason)
for _ in {1..5}; do
	leaving "$KYMO" record --direct --force -e memory --reach look -o "$TMP/t.fxt" -- "$EXIT_LOAD" leave
	expect_soon 20 is_held
	others_end
	echo >&9
	expect_soon 5 has_threads 2 "$LOAD"
	others_end
	echo >&9
	ended 7
	gap "$TMP/t.fxt" >"$TMP/gap"
	[ -s "$TMP/gap" ] || break
	assert_says "$TMP/gap" 'its first thread ended, and probes can have been missing' "missing parts"
done
assert_empty "$TMP/gap" "missing parts"
check_found "$TMP/t.fxt" 1

waits_for_attacher() {
	cat "/proc/$RECORDER/task/"*/wchan 2>/dev/null | grep unix_stream >/dev/null
}
# is_attached: whether all probes have a holder, and the attacher has removed its guards and waits
is_attached() {
	is_held && grep unix_stream "/proc/$(pgrep -x -P "$RECORDER" kymo-probes)/wchan" >/dev/null 2>&1
}

# The breakpoints are still in place when kymo looks, and are removed before it has new probes.
# Only this removal is known. Others could cause the gap, too.
note "breakpoints are removed just before the next thread gets its probes"
runtime=${RUNTIME_DIRECTORY-}
export RUNTIME_DIRECTORY=$TMP/known
leaving "$KYMO" record --direct --force -e memory --reach look -o "$TMP/t.fxt" -- "$EXIT_LOAD" linger >"$TMP/said"
expect_soon 20 is_attached
ATTACHER=$(pgrep -x -P "$RECORDER" kymo-probes)
kill -STOP "$ATTACHER"
echo >&9
expect_soon 5 has_threads 2 "$LOAD"
expect_soon 20 waits_for_attacher
others_end
echo >&9
expect_soon 5 test -s "$TMP/said"
kill -CONT "$ATTACHER"
expect_soon 20 is_attached
kill -INT "$RECORDER"
ended 0
echo >&9
expect_soon 5 is_gone "$LOAD"
gap "$TMP/t.fxt" >"$TMP/gap"
assert_says "$TMP/gap" 'its first thread ended, and probes can have been missing' "missing parts"
# (a session of another test can keep the breakpoints)
note "blocks that were seen in spite of that: $(found "$TMP/t.fxt" | awk '{ n += $3 } END { print n + 0 }')"
export RUNTIME_DIRECTORY=$runtime

note "its first thread has ended before the watch"
leaving "$EXIT_LOAD" leave
rm -f "$TMP/t.fxt"
"$KYMO" record --direct --force -e memory -o "$TMP/t.fxt" -p "$LOAD" 2>"$TMP/stderr" &
RECORDER=$!
expect_soon 20 has_watch_of "$LOAD"
echo >&9
expect_soon 5 has_threads 2 "$LOAD"
echo >&9
status=0
wait "$LOAD" || status=$?
assert_eq "$status" 7 "exit status of the load"
kill -INT "$RECORDER"
wait "$RECORDER" || fail "exit status $?: $(cat "$TMP/stderr")"
exec 9>&-
if [ -z "$(gap "$TMP/t.fxt")" ]; then
	assert_eq "$(found "$TMP/t.fxt" | awk '{ n += $3 } END { print n }')" 27 "blocks"
fi

# has_end_of PID: whether the archive has the end of a program of PID that has exited
has_end_of() {
	"$KYMO" dump "$TMP/t.fxt" 2>/dev/null | grep -E "memory:watched .*thread=$1/.* reason=\"exit\"" >/dev/null
}

# child_of PID: prints its child
child_of() {
	local child

	child=$(pgrep -P "$1") && echo "$child" >"$TMP/child"
}

# ends_slowly: records a load that cannot end before others are reaped. Sets n_slow to 0 if it waited
# for the stopped kymo before its end, as at a stop for its tracer, otherwise to 1.
ends_slowly() {
	local stopped=0

	rm -f "$TMP/lines" "$TMP/t.fxt"
	mkfifo "$TMP/lines"
	exec 9<>"$TMP/lines"
	"$KYMO" record --direct --force -e memory -o "$TMP/t.fxt" -- \
		unshare -pf sh -c 'read -r _; exec "$1" return' sh "$EXIT_LOAD" <"$TMP/lines" 2>"$TMP/stderr" 9>&- &
	RECORDER=$!
	expect_soon 30 pgrep -x -P "$RECORDER" unshare
	expect_soon 30 child_of "$(pgrep -x -P "$RECORDER" unshare)"
	LOAD=$(cat "$TMP/child")
	expect_soon 30 has_watch_of "$LOAD"
	nsenter -t "$LOAD" -p sleep 1000 9>&- &
	NSENTER=$!
	expect_soon 30 child_of "$NSENTER"
	kill -STOP "$NSENTER" "$RECORDER"
	echo >&9
	wait_for 5 is_state Z "$(cat "$TMP/child")" || stopped=1
	is_state Z "$LOAD" && fail "the load has ended too early"
	kill -CONT "$RECORDER"
	[ "$stopped" = 1 ] || expect_soon 30 has_end_of "$LOAD"
	kill -CONT "$NSENTER"
	ended 0
	wait "$NSENTER" || true
	exec 9>&-
	dump_records "$TMP/t.fxt"
	assert_eq "$(events watched | gojq -r --argjson pid "$LOAD" 'select(.process_id == $pid and .args.reason != "exec") |
		.args.reason')" exit "the ends of the process"
	n_slow=$((1 - stopped))
}

note "an exit takes long, and kymo learns only then of the exec before it"
# (the first process of a pid namespace cannot end before all others are reaped)
n_slow=0
for _ in {1..5}; do
	ends_slowly
	[ $n_slow = 0 ] || break
done
assert_eq "$n_slow" 1 "loads that ended while kymo was stopped, in 5 attempts"

note "kymo is killed: the command goes on, and ends"
waiting
kill -KILL "$RECORDER"
wait "$RECORDER" || true
expect_soon 5 is_state S "$LOAD"
kill "$LOAD"
expect_soon 5 is_gone "$LOAD"

note "by the service"
start_bus
KYMOD_GROUP=$(id -g uucp 2>/dev/null || echo kymo) start_kymod
options=(--bus "$BUS" --reach freeze)
ends 5 1 exit
ends 7 1 last
ends 0 2 fork
ends $((128 + 11)) 1 segv
waiting
kill -TERM "$RECORDER" "$LOAD"
ended $((128 + 15))
check_found "$TMP/t.fxt" 1

note "a program with the rights of its file is left alone, and has them"
if own=$(id -u uucp) && command -v setpriv >/dev/null; then
	open_bus_to_all
	mkdir -m 777 "$TMP/own"
	cp "$KYMO" "$TMP/own/kymo"
	cp "$(type -P id)" "$TMP/own/id"
	cp "$EXIT_LOAD" "$TMP/own/load"
	as_own() {
		expect_exit "$1" setpriv --reuid="$own" --regid="$own" --clear-groups "$TMP/own/kymo" record --force \
			-e memory --bus "$BUS" --reach look -o "$TMP/own/t.fxt" -- "${@:2}"
		grep '^kymo' "$TMP/stderr" >"$TMP/complaints" || true
	}
	as_own 5 "$TMP/own/load" exit
	check_found "$TMP/own/t.fxt" 1
	chmod 4755 "$TMP/own/id"
	if [ "$(setpriv --reuid="$own" --regid="$own" --clear-groups "$TMP/own/id" -u)" = 0 ]; then
		as_own 0 "$TMP/own/id" -u
		assert_says "$TMP/complaints" 'not held at its exit' \
			"the message about a set-user-ID program"
		assert_eq "$(cat "$TMP/stdout")" 0 "its effective user"
	fi
fi

note "a service that hangs does not keep it when nobody wants to wait"
waiting
kill -STOP "$KYMOD_PID"
kill -TERM "$LOAD"
expect_soon 5 is_state t "$LOAD"
kill -INT "$RECORDER"
expect_soon 8 is_gone "$LOAD"
kill -CONT "$KYMOD_PID"
ended $((128 + 15))
# (as at Ctrl-C: it exits after the signal to kymo, and is still searched, but not for long)
waiting
kill -STOP "$KYMOD_PID"
kill -INT "$RECORDER"
kill -TERM "$LOAD"
expect_soon 8 is_gone "$LOAD"
kill -CONT "$KYMOD_PID"
ended $((128 + 15))
stop_kymod
