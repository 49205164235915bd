# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The first line of all shell tests includes this file:
#
#	. "$(dirname "$0")/../lib.sh"
#
# It makes a directory for the test ($TMP). When the test ends, it removes this directory, and ends
# the processes that the test has started. It defines the functions of tests: need_*, assert_*,
# expect_*, start_*. A test that reaches its end has passed. If the machine lacks a prerequisite,
# the test prints "SKIP: REASON" and exits with 77.
#
# From meson: KYMO, KYMOD, KYMO_LOAD, DAMAGE_TRACE, CHECK_RECOVERY, MAKE_PROFILE (the binaries),
# KYMO_PERFETTO_SQL (optional, see HACKING.md).

set -euo pipefail
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$ROOT/tests/slowness.sh"
. "$ROOT/tests/where.sh"
. "$ROOT/tests/bpf-left.sh"
KYMO_BUILD=${KYMO_BUILD:-$ROOT/build}
KYMO=${KYMO:-$KYMO_BUILD/cli/kymo}
KYMOD=${KYMOD:-$KYMO_BUILD/daemon/kymod}
KYMO_LOAD=${KYMO_LOAD:-$KYMO_BUILD/tests/support/kymo-load}
DAMAGE_TRACE=${DAMAGE_TRACE:-$KYMO_BUILD/tests/support/damage-trace}
CHECK_RECOVERY=${CHECK_RECOVERY:-$KYMO_BUILD/tests/support/check-recovery}
MAKE_PROFILE=${MAKE_PROFILE:-$KYMO_BUILD/tests/support/make-profile}
MAKE_APITRACE=${MAKE_APITRACE:-$KYMO_BUILD/tests/support/make-apitrace}
MAKE_TFILE=${MAKE_TFILE:-$KYMO_BUILD/tests/support/make-tfile}
STACK_LOAD=${STACK_LOAD:-$KYMO_BUILD/tests/support/stack-load}
STACK_LIBRARY=${STACK_LIBRARY:-$KYMO_BUILD/tests/support/stack-library.so}
BAD_OUTPUT=${BAD_OUTPUT:-$KYMO_BUILD/tests/support/bad-output}
SERVE_TREE=${SERVE_TREE:-$KYMO_BUILD/tests/support/serve-tree}
ALLOW_CALLS=${ALLOW_CALLS:-$KYMO_BUILD/tests/support/allow-calls}
HOLD_LEASE=${HOLD_LEASE:-$KYMO_BUILD/tests/support/hold-lease}
MEMORY_LOAD=${MEMORY_LOAD:-$KYMO_BUILD/tests/support/memory-load}
LEAVE_PROBES=${LEAVE_PROBES:-$KYMO_BUILD/tests/support/leave-probes}
EXEC_LOAD=${EXEC_LOAD:-$KYMO_BUILD/tests/support/exec-load}
OWN_LOAD=${OWN_LOAD:-$KYMO_BUILD/tests/support/own-load}
FUNCTION_LOAD=${FUNCTION_LOAD:-$KYMO_BUILD/tests/support/function-load}
LIST_STACKS=${LIST_STACKS:-$KYMO_BUILD/tests/support/list-stacks}
LEAK_PROGRAMS=${LEAK_PROGRAMS:-$KYMO_BUILD/tests/support/plant}
RESOURCE_LOAD=${RESOURCE_LOAD:-$KYMO_BUILD/tests/support/resource-load}
PIDS_LIVE=${PIDS_LIVE:-$KYMO_BUILD/tests/support/pids-live}
LOAD_PROGRAMS=${LOAD_PROGRAMS:-$KYMO_BUILD/tests/support/load-programs}
STACK_DEPTHS=${STACK_DEPTHS:-$KYMO_BUILD/tests/support/stack-depths}
PATH=$PATH:/usr/sbin:/sbin

# Tests share their unwind tables, and never use those of the machine.
export CACHE_DIRECTORY=$KYMO_BUILD/cache
# (tools/clean-left looks for the id in it)
TMP=$(mktemp -d "${TMPDIR:-/tmp}/kymo-test.$$.XXXXXX")
slowness_keep "$TMP/slowness"
# Processes with this in their environment were started by this test.
export KYMO_TEST_RUN=$$-$RANDOM
at_exit_commands=()

# at_exit COMMAND ...: runs COMMAND at the end of the test. The last COMMAND runs first.
at_exit() {
	at_exit_commands=("$(printf '%q ' "$@")" "${at_exit_commands[@]}")
}

cleanup() {
	local status=$? last=$BASH_COMMAND pid command

	set +e
	# (A command that fails in a function ends the test, and calls no trap but this one.)
	case $status in
	0 | 77) ;;
	*) [ "$failed" ] || echo "FAIL: ${BASH_SOURCE[-1]}: ended with $status after: $last" >&2 ;;
	esac
	# jobs, not remembered pids, which can belong to other processes by now.
	for pid in $(jobs -rp); do
		kill -CONT "$pid" 2>/dev/null
		kill -TERM "$pid" 2>/dev/null
	done
	for _ in {1..60}; do
		[ "$(jobs -rp)" ] || break
		sleep 0.05
	done
	for pid in $(jobs -rp); do
		kill -KILL "$pid" 2>/dev/null
	done
	for command in "${at_exit_commands[@]}"; do
		eval "$command"
	done
	wait 2>/dev/null
	if [ "${KEEP_TMP:-}" ]; then
		echo "kept: $TMP" >&2
	else
		rm -rf "$TMP"
	fi
	exit "$status"
}
# Whether the reason for the failure was printed.
failed=
trap cleanup EXIT
trap 'exit 1' INT TERM
trap 'failed=yes; echo "FAIL: ${BASH_SOURCE[0]}:$LINENO: $BASH_COMMAND" >&2' ERR

# ---- ends of tests ----

skip() {
	echo "SKIP: $*"
	exit 77
}

fail() {
	trap - ERR
	failed=yes
	printf 'FAIL: %s:%s: %s\n' "${BASH_SOURCE[-1]}" "${BASH_LINENO[-2]}" "$*" >&2
	exit 1
}

note() {
	printf -- '- %s\n' "$*"
}

# ---- prerequisites ----

need_command() {
	local name

	for name in "$@"; do
		command -v "$name" >/dev/null || skip "there is no command '$name'"
	done
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

# wait_for_others NAME: waits until no other test that has called this with NAME is running. Such
# tests count the same activity of the whole machine.
wait_for_others() {
	local fd

	exec {fd}>"${TMPDIR:-/tmp}/kymo-lock-$1"
	flock "$fd"
}

# The prerequisites of a real recording.
need_btf() {
	need_root
	need_command gojq bpftool
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF (/sys/kernel/btf/vmlinux)"
	# Loads and the kernel have the same pids only in the initial pid namespace.
	[ "$(readlink /proc/self/ns/pid)" = 'pid:[4026531836]' ] ||
		skip "needs the initial pid namespace"
}

need_bus() {
	need_command dbus-daemon
}

need_perfetto() {
	[ "${KYMO_PERFETTO_SQL:-}" ] || skip "no Perfetto SQL command (KYMO_PERFETTO_SQL is not set)"
}

need_cpus() {
	[ "$(nproc)" -ge "$1" ] || skip "needs $1 CPUs"
}

# Sets CGROUP2 to the mount point of the unified hierarchy.
need_cgroup2() {
	CGROUP2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ "$CGROUP2" ] || skip "no cgroup2 is mounted"
	[ -w "$CGROUP2" ] || skip "cannot write to $CGROUP2"
}

# ---- checks ----

assert_eq() {
	[ "$1" = "$2" ] || fail "${3:-values}: expected '$2', got '$1'"
}

assert_ge() {
	[ "$1" -ge "$2" ] || fail "${3:-value}: expected at least $2, got $1"
}

assert_le() {
	[ "$1" -le "$2" ] || fail "${3:-value}: expected at most $2, got $1"
}

# assert_within VALUE REFERENCE PERCENT WHAT
assert_within() {
	awk -v a="$1" -v b="$2" -v p="$3" '
		BEGIN { d = a > b ? a - b : b - a; exit !(d <= b * p / 100) }' ||
		fail "$4: $1 is not within $3 % of $2"
}

# assert_says FILE TEXT WHAT: FILE contains TEXT literally
assert_says() {
	grep -qF -e "$2" "$1" || {
		sed 's/^/    | /' "$1" >&2
		fail "${3:-$1}: nowhere is '$2'"
	}
}

# assert_line FILE TEXT WHAT: FILE has the line TEXT, literally
assert_line() {
	grep -qxF -e "$2" "$1" || {
		sed 's/^/    | /' "$1" >&2
		fail "${3:-$1}: no line is '$2'"
	}
}

# assert_contains FILE REGEX WHAT: an extended regular expression. For literal text, use assert_says
# or assert_line: tests/style/check-patterns fails if a dot stands for itself.
assert_contains() {
	grep -qE -e "$2" "$1" || {
		sed 's/^/    | /' "$1" >&2
		fail "${3:-$1}: nothing matches '$2'"
	}
}

assert_empty() {
	local text

	# (not by its size: it may be a pipe)
	text=$(cat "$1")
	[ -z "$text" ] || {
		printf '    | %s\n' "${text//$'\n'/$'\n    | '}" >&2
		fail "${2:-$1} should be empty"
	}
}

# expect_exit STATUS COMMAND ...: its output is in $TMP/stdout and $TMP/stderr afterwards. STATUS
# can be a list: "0|3".
expect_exit() {
	local expected=$1 status=0

	shift
	"$@" >"$TMP/stdout" 2>"$TMP/stderr" </dev/null || status=$?
	case "|$expected|" in
	*"|$status|"*) ;;
	*)
		sed 's/^/    | /' "$TMP/stdout" "$TMP/stderr" | sed -n 1,40p >&2
		# (124: that of timeout(1). What did not answer still hangs.)
		[ "$status" != 124 ] || fail_late "not in time: $*"
		fail "exit status $status instead of $expected: $*"
		;;
	esac
	# shellcheck disable=SC2034 # for the test
	exit_status=$status
}

# json FILE FILTER [gojq options]: prints the value as text
json() {
	local file=$1 filter=$2

	shift 2
	gojq -r "$@" "$filter" "$file"
}

# holds FILE FILTER [gojq options]: FILTER is true for each value in FILE ("-" is standard input),
# and there is at least one. `gojq -e` is not usable: with empty input it succeeds.
holds() {
	local answers

	answers=$(json "${1/#%-//dev/stdin}" "${@:2}") && [[ $answers =~ ^(true[[:space:]]?)+$ ]]
}

# expect_soon SECONDS COMMAND ...: COMMAND succeeds within `limit SECONDS`
expect_soon() {
	wait_for "$@" || fail_late "not within $(limit "$1") s: ${*:2}"
}

# fail_late WHY: a state did not come in time. Prints the stacks of some processes of kymo, since a
# debugger needs seconds for each.
fail_late() {
	local comm pid n=0

	for comm in /proc/[0-9]*/comm; do
		pid=${comm//[^0-9]/}
		if grep -qs '^kymo' "$comm" && grep -qzsx "KYMO_TEST_RUN=$KYMO_TEST_RUN" "/proc/$pid/environ" &&
			[ $((++n)) -le 4 ]; then
			where "$pid" >&2 || true
		fi
	done
	fail "$@"
}

is_gone() {
	! kill -0 "$1" 2>/dev/null
}

# A zombie has ended, too. A process whose main thread only is dead has not.
has_ended() {
	is_gone "$1" || { grep -q '^State:.Z' "/proc/$1/status" && grep -q '^Threads:.1$' "/proc/$1/status"; }
}

is_asleep() {
	grep -q '^State:.S' "/proc/$1/status"
}

# ---- recordings ----

# check_finds_nothing FILE: `kymo check` finds nothing in FILE, except late records: a machine can
# stop for milliseconds while a record is being made.
check_finds_nothing() {
	expect_exit 0 "$KYMO" check "$1"
	grep -E '^(error|warning) ' "$TMP/stdout" | grep -v '^warning sched-unsorted' >"$TMP/findings" || true
	assert_empty "$TMP/findings" "findings of kymo check in $1"
}

# check_results FILE ...: each FILE is an archive without errors and warnings, except kinds of
# warnings that match $CHECK_EXCEPT. Perfetto reports no error, either.
check_results() {
	local file errors slices open nameless questions=()

	for file in "$@"; do
		expect_exit 0 "$KYMO" check --json "$file"
		holds "$TMP/stdout" '.errors == 0 and
			all(.kinds[] | select(.severity == "warning"); .id | test($but))' --arg but "^(${CHECK_EXCEPT:-none})\$" ||
			fail "$file: $("$KYMO" check "$file")"
		# (threads that a switch contains, and that have no name)
		questions+=(-- "$file"
			"select name, value from stats where value != 0 and
				(name glob 'fuchsia*' or severity in ('error', 'data_loss'))"
			"select count(*) n from sched_slice join thread using (utid)
				where dur = -1"
			"select count(*) n from slice where dur = -1"
			"select count(*) n from sched_slice join thread using (utid)
				where tid != 0 and name is null")
	done
	[ "${KYMO_PERFETTO_SQL:-}" ] || return 0
	perfetto "${questions[@]:1}" >"$TMP/perfetto.answers"
	for file in "$@"; do
		if ! { read -r errors && read -r slices && read -r open && read -r nameless; }; then
			fail "Perfetto does not answer about $file"
		fi
		assert_eq "$errors" '[]' "errors of import of $file"
		assert_eq "$slices" '[{"n":0}]' "open sched slices of $file"
		assert_eq "$open" '[{"n":0}]' "open slices of $file"
		assert_eq "$nameless" '[{"n":0}]' "nameless threads of $file"
	done <"$TMP/perfetto.answers"
}

# expect_checked FILE [option ...]: writes `kymo check --json` of FILE to $TMP/stdout. The exit
# status must be 3 if there are errors (with --strict, also warnings) or if the end is missing; else
# 0.
CHECK_STATUS='if .errors > 0 or .cut_off or ($strict and .warnings > 0) then 3 else 0 end'
expect_checked() {
	local file=$1 strict=false

	shift
	[ "${1:-}" != --strict ] || strict=true
	expect_exit "0|3" timeout "$(limit 60)" "$KYMO" check --json "$@" "$file"
	assert_eq "$exit_status" "$(json "$TMP/stdout" "$CHECK_STATUS" --argjson strict $strict)" "exit status of kymo check of $file"
}

# loss_told_by FILE: prints the number of records that FILE reports as lost. FILE may be damaged.
# (Looking up the names of functions takes most of the time of a summary.)
loss_told_by() {
	{ "$KYMO" summary --json --no-symbols "$1" 2>/dev/null || [ $? = 3 ]; } | gojq '[.lost[]] | add // 0'
}

# expect_read FILE COMMAND ...: COMMAND reads FILE, which is undamaged. The exit status must be 3 if
# FILE reports lost records, else 0. (If FILE had too many mappings, the status would be 3, too.)
expect_read() {
	local file=$1 lost

	shift
	expect_exit "0|3" "$@"
	lost=$(loss_told_by "$file")
	assert_eq "$exit_status" $((lost > 0 ? 3 : 0)) "exit status of '$*', where $lost records were lost"
}

# finished PID LOG: waits for the recorder PID, and prints its messages in LOG; for expect_recorded
finished() {
	local status=0

	wait "$1" || status=$?
	cat "$2" >&2
	return "$status"
}

# expect_recorded FILE COMMAND ...: COMMAND records, or stops a recording. Another load on the
# machine can make a ring overflow. If COMMAND reports a loss, its exit status must be 3, and FILE
# (unless it is -) must report the same loss. Otherwise, its exit status must be 0.
expect_recorded() {
	local file=$1 said=0 lost

	shift
	expect_exit "0|3" "$@"
	! less_was_recorded >/dev/null || said=3
	assert_eq "$exit_status" $said "exit status of '$*', which said '$(less_was_recorded | tail -n 1)'"
	[ "$file" != - ] || return 0
	said=$(grep -cE ': (lost|left out|omitted) [0-9]+ ' "$TMP/stderr" || true)
	lost=$(loss_told_by "$file")
	assert_eq $((lost > 0)) $((said > 0)) "whether records were lost ($lost in $file)"
}

# less_was_recorded: prints the last command's messages about lost records
LESS_RECORDED=': (lost|left out|omitted) [0-9]+ |had no room| s: recording took [0-9.]+% of | (was|were) lost while it was recorded;|: the archive is damaged;'
less_was_recorded() {
	grep -E "$LESS_RECORDED" "$TMP/stderr"
}

# summarize FILE: writes `kymo summary --json` of FILE to the file $SUMMARY, with the names of
# functions that are in FILE. The exit status must be 3 if records were lost or FILE is damaged, else
# 0.
summarize() {
	SUMMARY=$TMP/$(basename "$1").summary.json
	expect_exit "0|3" "$KYMO" summary --json --no-symbols "$1"
	cp "$TMP/stdout" "$SUMMARY"
	assert_eq "$exit_status" "$(json "$SUMMARY" 'if ([.lost[]] | add // 0) + .damage > 0 then 3 else 0 end')" \
		"exit status of kymo summary of $1"
}

# dump_records FILE: writes `kymo dump --json` of FILE to the file $DUMP, one object per line.
dump_records() {
	DUMP=$TMP/$(basename "$1").dump.json
	"$KYMO" dump --json "$1" >"$DUMP" 2>"$TMP/dump.stderr" || [ $? = 3 ] || {
		cat "$TMP/dump.stderr" >&2
		fail "kymo dump failed on $1"
	}
}

# record_around FILE [record option ...] -- COMMAND ...: records in this process while COMMAND runs.
# Another load on the machine can make a ring overflow, which is not an error of kymo. So the
# recording is repeated up to three times.
record_around() {
	local file=$1 n

	shift
	for n in 1 2 3; do
		expect_exit 0 "$KYMO" record --direct --force -o "$file" "$@"
		something_was_lost >/dev/null || return 0
		note "disturbed (try $n): $(something_was_lost | tail -n 1)"
	done
	nothing_lost
}

# missing_at_most MS COMMAND ...: COMMAND kills a recorder, and sets MISSING_MS to the time between
# the last written event and the kill. If other processes use the CPU or the disk, this time is
# longer, which is not an error of kymo. So COMMAND is repeated up to five times.
missing_at_most() {
	local limit=$1 n

	shift
	for n in 1 2 3 4 5; do
		"$@"
		[ "$MISSING_MS" -gt "$limit" ] || return 0
		note "disturbed (try $n): $MISSING_MS ms before the kill are missing"
	done
	fail "$MISSING_MS ms before the kill are missing, expected at most $limit"
}

# forks: prints how many processes and threads this machine has started since it was booted
forks() {
	sed -n 's/^processes //p' /proc/stat
}

# something_was_lost: prints the messages about losses of the last `kymo record`. (With a command,
# its exit status does not show them.) Those that match MAY_BE_LOST do not matter to the test.
something_was_lost() {
	grep -E ': (lost|left out|omitted) [0-9]+ |had no room' "$TMP/stderr" |
		grep -v -e "${MAY_BE_LOST:-^\$}"
}

nothing_lost() {
	! something_was_lost >&2 || fail "events were lost"
}

# switches [TEXT]: switches of the last `dump_records`, one per row: time, cpu, outgoing, incoming,
# state of the outgoing, synthetic (0/1). With TEXT, only lines that contain it, which is faster.
switches() {
	grep -F '"context_switch"' "$DUMP" | { grep -F -e "${1:-}" || true; } | gojq -r 'select(.record == "context_switch") |
		[.timestamp_ns, .cpu_number, .outgoing_thread_id, .incoming_thread_id,
		 .outgoing_thread_state, ([.args[] | select(.name == "synthetic")] | length)] | @tsv'
}

# switches_from TID: prints the number of switches from TID in the last `dump_records`
switches_from() {
	switches "\"outgoing_thread_id\":$1," | awk -v tid="$1" '$3 == tid && !$6' | wc -l
}

# Wakeups of the last `dump_records`, one per row: time, cpu, woken, waker (0 = unknown)
wakeups() {
	grep -F '"thread_wakeup"' "$DUMP" | gojq -r 'select(.record == "thread_wakeup") |
		[.timestamp_ns, .cpu_number, .waking_thread_id,
		 (first(.args[] | select(.name == "waker") | .value) // 0)] | @tsv'
}

# events NAME: the events of the last `dump_records` with this name, one object per line; .args is
# an object of names and values
events() {
	{ grep -F "\"$1\"" "$DUMP" || true; } |
		gojq -c --arg name "$1" 'select(.record == "event" and .name == $name) | .args |= from_entries'
}

# The total of lost records, in the last `summarize`.
lost_total() {
	json "$SUMMARY" '[.lost[]] | add // 0'
}

assert_no_loss() {
	assert_eq "$(lost_total)" 0 "records lost"
}

# thread TID FIELD: in the last `summarize`
thread() {
	json "$SUMMARY" ".threads[] | select(.tid == $1) | .$2"
}

# A CPU for pinning: the last allowed one.
last_cpu() {
	taskset -pc $$ | sed 's/.*[:,-] *//'
}

# start_held NAME LOAD-ARGUMENT ...: starts a kymo-load that sleeps until `begin_held NAME`, then
# works, prints the truth to $TMP/NAME.json, and lives until `end_held NAME`. Its pid is
# ${HELD[NAME]}.
declare -A HELD HELD_FD
start_held() {
	local name=$1 fd

	shift
	mkfifo "$TMP/$name.fifo"
	exec {fd}<>"$TMP/$name.fifo"
	HELD_FD[$name]=$fd
	(
		# With a copy of the writing end, the load would never see the end of its input.
		for fd in "${HELD_FD[@]}"; do
			exec {fd}>&-
		done
		exec "$KYMO_LOAD" --held "$@" <"$TMP/$name.fifo" >"$TMP/$name.json"
	) &
	HELD[$name]=$!
	expect_soon 5 grep -qx kymo-load "/proc/$!/comm"
	expect_soon 5 is_asleep "$!"
}

begin_held() {
	echo >&"${HELD_FD[$1]}"
}

# Waits until the truth of load $1 is complete; it sleeps then.
wait_held() {
	expect_soon "${2:-60}" holds "$TMP/$1.json" "length == 1" -s
	expect_soon 5 is_asleep "${HELD[$1]}"
}

end_held() {
	local fd=${HELD_FD[$1]}

	exec {fd}>&-
	unset "HELD_FD[$1]"
	wait "${HELD[$1]}"
}

# start_stack_load ARGUMENT ...: starts a stack-load that waits until `go_stack_load`, which returns
# when the load has done its work, printed the truth to $TMP/stack-load.json and sleeps;
# `end_stack_load` ends it. Its pid is $STACK_LOAD_PID.
start_stack_load() {
	rm -f "$TMP/stack-load.fifo"
	mkfifo "$TMP/stack-load.fifo"
	"$STACK_LOAD" --held "$@" <"$TMP/stack-load.fifo" >"$TMP/stack-load.json" &
	STACK_LOAD_PID=$!
	exec {STACK_LOAD_FD}>"$TMP/stack-load.fifo"
	expect_soon 5 grep -qx stack-load "/proc/$STACK_LOAD_PID/comm"
}

go_stack_load() {
	echo >&"$STACK_LOAD_FD"
	expect_soon 60 test -s "$TMP/stack-load.json"
	expect_soon 5 is_asleep "$STACK_LOAD_PID"
}

end_stack_load() {
	exec {STACK_LOAD_FD}>&-
	wait "$STACK_LOAD_PID"
}

# samples_due FILE HZ [FILTER]: prints the number of samples that the CPU time of a stack-load
# requires. The load has measured this time and written it to FILE; FILTER selects it (by default,
# the time of its leaves). Elapsed time is no measure, since other processes can use the CPU.
samples_due() {
	json "$1" "${3:-.leaf_ns | add} | . * $2 / 1e9 | round"
}

# stolen_ns CPU: prints how long the host has not run that CPU (of this virtual machine) when it had
# work; CPU is as in /proc/stat ("cpu" = all). The clock of a thread has a part of such times.
stolen_ns() {
	awk -v cpu="$1" -v hz="$(getconf CLK_TCK)" '$1 == cpu { printf "%d", $9 * (1000000000 / hz) }' /proc/stat
}

# ---- the bus and the daemon ----

# A private bus that allows everything to all users, except what the policy of kymo forbids, unless
# KYMO_TEST_NO_POLICY is set. Its address is in $BUS.
start_bus() {
	BUS=unix:path=$TMP/bus
	cat >"$TMP/bus.conf" <<-END
		<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
		 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
		<busconfig>
		  <type>system</type>
		  <listen>$BUS</listen>
		  <auth>EXTERNAL</auth>
		  <policy context="default">
		    <allow user="*"/>
		    <allow own="*"/>
		    <allow send_type="method_call"/>
		    <allow send_type="signal"/>
		    <allow send_requested_reply="true" send_type="method_return"/>
		    <allow send_requested_reply="true" send_type="error"/>
		    <allow receive_type="method_call"/>
		    <allow receive_type="method_return"/>
		    <allow receive_type="error"/>
		    <allow receive_type="signal"/>
		  </policy>
		  ${KYMO_TEST_NO_POLICY:+<!--}
		  <include>$ROOT/units/org.kymo.Trace1.conf</include>
		  ${KYMO_TEST_NO_POLICY:+-->}
		</busconfig>
	END
	dbus-daemon --config-file="$TMP/bus.conf" --nofork --nopidfile >"$TMP/bus.log" 2>&1 &
	expect_soon 5 test -S "$TMP/bus"
}

# Lets other users use the bus, too. The programs of tests find it by KYMO_TEST_BUS.
open_bus_to_all() {
	export KYMO_TEST_BUS=$BUS
	chmod 755 "$TMP"
	chmod 777 "$TMP/bus"
}

# start_fake_polkit: starts tests/bus/fake-polkit.c there; polkit_says RIGHT ANSWER sets an answer.
polkit_says() {
	busctl --address="$BUS" call org.freedesktop.PolicyKit1 /org/freedesktop/PolicyKit1/Authority \
		org.kymo.Test.Polkit SetAnswer ss "org.kymo.Trace1.$1" "$2"
}

start_fake_polkit() {
	KYMO_TEST_BUS=$BUS "$FAKE_POLKIT" &
	expect_soon 5 polkit_says manage no
}

# unit_settings UNIT NAME: prints the words of the setting NAME in UNIT
unit_settings() {
	sed -n "s/^$2=//p" "$ROOT/units/$1.service.in" | tr '\n' ' '
}

# unit_capabilities UNIT: prints the capabilities of UNIT, in the format of setpriv
unit_capabilities() {
	unit_settings "$1" CapabilityBoundingSet | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g; s/,*$//'
}

# start_kymod [COMMAND ...]: starts the daemon on that bus, through COMMAND. Its pid is in
# $KYMOD_PID. $KYMOD_GROUP can record.
start_kymod() {
	RUNTIME_DIRECTORY=$TMP/run "$@" "$KYMOD" --bus "$BUS" --group "${KYMOD_GROUP:-kymo}" >"$TMP/kymod.log" 2>&1 &
	KYMOD_PID=$!
	wait_for 5 "$KYMO" list --bus "$BUS" || {
		cat "$TMP/kymod.log" >&2
		fail "kymod does not answer"
	}
}

# terminate PID WHAT: sends SIGTERM to PID, a child of this shell, which must exit with 0. WHAT is
# its name in messages.
terminate() {
	local status=0

	kill -TERM "$1"
	wait "$1" || status=$?
	assert_eq "$status" 0 "exit status of $2 after SIGTERM"
}

stop_kymod() {
	terminate "$KYMOD_PID" kymod
}

# has_no_sessions: whether the service on $BUS answers, and has no sessions
has_no_sessions() {
	local sessions

	sessions=$("$KYMO" list --bus "$BUS") && [ -z "$sessions" ]
}

# mark_is_in DIRECTORY TEXT: whether a file there, which is not compressed, has the mark TEXT. (The
# command lines of `kymo mark` and of this grep can be recorded, too, and the first one before the mark
# is made. There, a space is before the text. In the mark, it is the end of the argument's header.)
mark_is_in() {
	grep -rqaP "\x00\Q$2\E" "$1"
}

session_is_running() {
	# (-q would end before everything is printed)
	"$KYMO" status --json "$1" --bus "$BUS" | grep '"running"' >/dev/null
}

# assert_documented VERB FILE [FILTER]: the result of FILTER on the JSON in FILE has the keys that
# docs/COMPATIBILITY.md guarantees for VERB
assert_documented() {
	local keys missing

	keys=$(sed -n "s/^| \`$1\` | \(.*\) |\$/\1/p" "$ROOT/docs/COMPATIBILITY.md" | tr -d '\`')
	[ "$keys" ] || fail "docs/COMPATIBILITY.md says nothing of $1"
	missing=$(gojq -rn --arg keys "$keys" "[inputs | ${3:-.}]"' |
		if length == 0 then "all of them" else .[] | ($keys | split(" ")) - keys | .[] end' "$2")
	assert_eq "$missing" "" "keys of $1 that are promised and missing"
}

# ---- a load of all kinds ----

# little_work [ROUNDS]: a few events of all kinds in sched and lifecycle records, for half a second;
# to be run by bash -c.
little_work() {
	"$KYMO_LOAD" --cpu "$(last_cpu)" pingpong "${1:-1500}" >/dev/null
	for _ in {1..40}; do
		/bin/true
	done
	sleep 0.3
}

# ---- Perfetto ----

# perfetto FILE SQL ... [-- FILE SQL ...]: prints a JSON array per query
perfetto() {
	"$KYMO_PERFETTO_SQL" "$@" 2>"$TMP/perfetto.stderr" || {
		cat "$TMP/perfetto.stderr" >&2
		fail "Perfetto does not read $1"
	}
}
