#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kill-phases.sh [KILLS [GROUP-KILLS]]: the service is killed KILLS times in each phase of a session
# that records allocations: while it attaches, while it runs, while it detaches, while it rotates,
# and while it takes a snapshot. It is killed GROUP-KILLS times together with all processes of its
# cgroup, as by `systemctl kill -s KILL` or when no memory is left. Each time, the code of programs
# equals that of their files again, nothing is left in the kernel, not even data of probes, and the
# archive can be read.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../support/collect-words.sh"
. "$(dirname "$0")/../killed-words.sh"
need_btf
need_bus

kills=${1:-1}
group_kills=${2:-$kills}
# (some of them: PHASES="attach detach")
categories=sched,profile,offcpu,memory
CGROUP2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
KYMOD_CGROUP=
if [ "$CGROUP2" ] && mkdir "$CGROUP2/kymo-test-$$" 2>/dev/null; then
	KYMOD_CGROUP=$CGROUP2/kymo-test-$$
	at_exit remove_cgroup
else
	note "without cgroup2 not all processes can be killed at once"
fi
group_is_empty() {
	[ -z "$(cat "$KYMOD_CGROUP/cgroup.procs")" ]
}
remove_cgroup() {
	echo 1 >"$KYMOD_CGROUP/cgroup.kill"
	wait_for 10 group_is_empty
	rmdir "$KYMOD_CGROUP"
}
start_service_bus
target=$TMP/kt$RANDOM
# Linked statically where possible: then no other session has probes in these allocators. The
# removal of such probes would remove leftover breakpoints.
command=(--held list)
cp "$LEAK_PROGRAMS/leak-plant-static" "$target" 2>/dev/null || {
	command=(infinity)
	cp "$(command -v sleep)" "$target"
}
profile phases <<-END
	[Collection]
	Categories=$categories
	[Filter]
	Comm=${target##*/}
	[Output]
	Directory=$TMP/out
	RotateTime=1h
END

mkfifo "$TMP/silence"
exec {silence}<>"$TMP/silence"
targets=()
for _ in {1..6}; do
	"$target" "${command[@]}" <&"$silence" >/dev/null &
	targets+=($!)
done

# n_patched: prints the number of code bytes in all targets that differ from their files
n_patched() {
	local pid n=0

	for pid in "${targets[@]}"; do
		n=$((n + $("$MEMORY_LOAD" patched "$pid")))
	done
	echo $n
}
any_patched() {
	[ "$(n_patched)" != 0 ]
}
all_patched() {
	local pid

	for pid in "${targets[@]}"; do
		[ "$("$MEMORY_LOAD" patched "$pid")" -gt 0 ] || return 1
	done
}
none_patched() {
	[ "$(n_patched)" = 0 ]
}
service_runs() {
	local pid

	pid=$(cat "$TMP/kymod.pid") && [ "$(cat "/proc/$pid/comm")" = kymod ] && grep -qzsx "KYMO_TEST_RUN=$KYMO_TEST_RUN" "/proc/$pid/environ"
}
service_answers() {
	"$KYMO" list --bus "$BUS"
}

# sleep_ms MOST: sleeps for a random time
sleep_ms() {
	sleep "$(printf '0.%03d' $((RANDOM % ($1 + 1))))"
}

# order VERB ...: runs a verb in the background, and ignores its result
clients=()
order() {
	"$KYMO" "$@" --bus "$BUS" >"$TMP/order.log" 2>&1 &
	clients+=($!)
}
start_session() {
	order start phases -e $categories --comm "${target##*/}" -o "$TMP/phases.fxt" --force
}
# Without a pause: it is a matter of milliseconds.
watch_for_probes() {
	local i

	for i in {1..2000}; do
		[ "$("$MEMORY_LOAD" patched "${targets[i % 6]}")" = 0 ] || return 0
	done
}
watch_for_their_end() {
	local i

	for i in {1..400}; do
		[ "$("$MEMORY_LOAD" patched "${targets[i % 6]}")" != 0 ] || return 0
	done
}
running_session() {
	start_session
	expect_soon 30 all_patched
}

# begin PHASE: brings the session to a random time within PHASE
begin() {
	case $1 in
	attach)
		start_session
		sleep_ms "$attach_ms"
		# Every second kill comes at the first probe.
		[ $((RANDOM % 2)) = 0 ] || watch_for_probes
		;;
	running)
		running_session
		sleep_ms 300
		;;
	detach)
		running_session
		order stop phases
		# Every second kill comes when the first probe is removed.
		if [ $((RANDOM % 2)) = 0 ]; then sleep_ms 250; else watch_for_their_end; fi
		;;
	rotate)
		order collect phases
		expect_soon 30 all_patched
		order rotate phases
		sleep_ms 40
		;;
	snapshot)
		running_session
		order snapshot phases
		sleep_ms 40
		;;
	esac
}

# The cleanup process of the next service has checked everything.
no_journal() {
	[ -z "$(ls -I removals "$TMP/run/probes")" ]
}

# kill_all [group]: kills the clients, too, so that they do not start another service.
kill_all() {
	local pid

	for pid in "${clients[@]}"; do
		kill -STOP "$pid" 2>/dev/null || true
	done
	if [ "${1:-}" = group ]; then
		echo 1 >"$KYMOD_CGROUP/cgroup.kill"
		expect_soon 20 group_is_empty
	else
		end_kymod KILL
	fi
	for pid in "${clients[@]}"; do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	clients=()
}

check_files() {
	local file

	for file in "$TMP/phases.fxt" "$TMP"/out/*.fxt "$TMP"/out/.*.part; do
		[ -s "$file" ] || continue
		n_files=$((n_files + 1))
		expect_checked "$file"
		holds "$TMP/stdout" '.errors == (if .truncated then 1 else 0 end)' ||
			fail "$file: errors other than a cut tail: $(cat "$TMP/stdout")"
	done
	rm -rf "$TMP/phases.fxt" "$TMP"/out/* "$TMP"/out/.*.part
}

remember_bpf
remember_kernel_log
n_files=0
begin_ms=$(date +%s%3N)
running_session
attach_ms=$(($(date +%s%3N) - begin_ms))
# (the first start may have been slow)
[ "$attach_ms" -le 1500 ] || attach_ms=1500
kill_all
check_files

# kill_in PHASE KILLS [group]
kill_in() {
	local phase=$1 kills=$2 n_within=0 n_dirty=0 i

	for ((i = 1; i <= kills; i++)); do
		expect_soon 20 service_answers
		[ -z "${3:-}" ] || expect_soon 10 no_journal
		begin "$phase"
		! any_patched || n_within=$((n_within + 1))
		kill_all "${3:-}"
		none_patched || n_dirty=$((n_dirty + 1))
		# (the attacher notices that its owner has ended)
		wait_for 5 none_patched || fail "$phase, kill $i: $(n_patched) bytes of code are not those of the files"
		check_files
		# (the holders take some time to notice it)
		[ $((i % 10)) != 0 ] || no_bpf_left "$phase, kill $i"
	done
	no_bpf_left "$phase"
	no_probe_data_left "$phase"
	# (sessions that begin or end may have ended, or not yet exist)
	case $phase in
	running | rotate | snapshot)
		assert_eq "$n_within" "$kills" "$phase: kills with probes in their places"
		;;
	esac
	note "$phase: $kills kills${3:+ of all processes}, $n_within of them with probes in their places" \
		"($n_dirty with probes right afterwards)"
}

for phase in ${PHASES:-attach running detach rotate snapshot}; do
	kill_in "$phase" "$kills"
	[ -z "$KYMOD_CGROUP" ] || kill_in "$phase" "$group_kills" group
done
assert_ge "$n_files" 1 "files in which there was something"
for pid in "${targets[@]}"; do
	! is_gone "$pid" || fail "a program that was watched has ended"
done
