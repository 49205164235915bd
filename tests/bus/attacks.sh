#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Attacks by a user who can record, on a service with the capabilities of its unit. During an
# attack, the service answers within a second, the sessions of root and of another user lose
# nothing, and the service's memory stays bounded. After it, everything is freed. SIGTERM ends the
# service in the middle of an attack within the unit's time. (hung-files and starve test files that
# hang; hostile tests floods of the bus.)

. "$(dirname "$0")/../lib.sh"
need_root
need_btf
need_bus
need_command setpriv prlimit

# All users are in the group that may record without polkit.
member=$(id -u nobody) bystander=$(id -u bin) || skip "there are no users nobody and bin"
export KYMOD_GROUP=4711
# (in the background, $! is the pid of the program)
as_member() {
	${in_background:+exec} setpriv --reuid="$member" --regid="$member" --groups=$KYMOD_GROUP "$@"
}
as_bystander() {
	${in_background:+exec} setpriv --reuid="$bystander" --regid="$bystander" --groups=$KYMOD_GROUP "$@"
}

# In some containers, the unit's LimitMEMLOCK=infinity cannot be set: then a capability replaces it.
capabilities=-all,$(unit_capabilities kymod) limits=(--memlock=unlimited)
prlimit --memlock=unlimited true 2>/dev/null || capabilities=$capabilities,+ipc_lock limits=()

# start_confined [LIMIT ...]: starts the daemon with the capabilities of its unit.
start_confined() {
	start_kymod prlimit --core=0 "${limits[@]}" "$@" \
		setpriv --bounding-set="$capabilities" --no-new-privs
}

start_bus
open_bus_to_all
remember_bpf
mkdir "$TMP/run" "$TMP/member" "$TMP/bystander" "$TMP/bin"
chown "$member" "$TMP/member"
chown "$bystander" "$TMP/bystander"
cp "$KYMO" "$KYMO_LOAD" "$EXEC_LOAD" "$KYMO_TEST_STUCK_SNAPSHOTS" "$TMP/bin"
mount -t tmpfs -o size=48M,mode=700 none "$TMP/run" || skip "cannot mount a tmpfs"
at_exit umount -l "$TMP/run"
start_confined

# ---- sessions that must not be affected ----

# They record a small load all the time, and the attacker.
little='while read -t 0.01 _ || [ $? -gt 128 ]; do :; done'
mkfifo "$TMP/never"
# shellcheck disable=SC2034
exec {never}<>"$TMP/never"
bash -c "$little" <"$TMP/never" &
roots=$!
in_background=yes as_bystander bash -c "$little" <"$TMP/never" &
theirs=$!
expect_exit 0 "$KYMO" start victim -o "$TMP/victim.fxt" -e sched -b 16M -p $roots --bus "$BUS"
# (only the attacker: the CPU time of the service must not depend on what else the machine does)
expect_exit 0 "$KYMO" start box --mode flight --keep-size 8M -e sched -b 16M --uid "$member" --bus "$BUS"
in_background=yes as_bystander "$TMP/bin/kymo" record --own -e sched -b 4M -p $theirs -o "$TMP/bystander/own.fxt" --bus "$BUS" 2>"$TMP/bystander.log" &
bystanders=$!
forks_before=$(forks)
is_recorded() {
	"$KYMO" list --bus "$BUS" | grep '^bin/\|^2/\|record_' >/dev/null
}
expect_soon 20 is_recorded

# own_kib, threads, files: resources of the daemon. (Memory without the rings. They have a fixed size,
# but each of their pages counts only when it is first read, and twice, as the kernel maps it twice.)
own_kib() {
	awk '/^RssAnon/ { print $2 }' "/proc/$KYMOD_PID/status"
}
threads() {
	awk '/^Threads/ { print $2 }' "/proc/$KYMOD_PID/status"
}
files() {
	find "/proc/$KYMOD_PID/fd" -mindepth 1 | wc -l
}
# (a flight recorder's number of open chunks varies)
is_free_again() {
	[ "$(threads)" -le "$threads_before" ] && [ "$(files)" -le $((files_before + 80)) ]
}

# attack NAME FUNCTION [KIB]: runs FUNCTION while the service is queried continuously. Afterwards, the
# service is as before, and its memory has grown by at most KIB.
attack() {
	local before after status=0 seconds=$SECONDS most=${3:-65536}

	note "$1"
	before=$(own_kib)
	threads_before=$(threads) files_before=$(files)
	KYMO_TEST_HANGS_S=$(limit 4) "$KYMO_TEST_LATENCY_WATCH" >"$TMP/latency-watch.log" 2>&1 &
	latency_watch=$!
	"$2"
	kill -TERM $latency_watch
	wait $latency_watch || status=$?
	cat "$TMP/latency-watch.log"
	assert_eq "$status" 0 "exit status of the latency watch during: $1"
	session_is_running victim || fail "root's recording does not run any more after: $1"
	wait_for 10 is_free_again ||
		fail "after: $1: $(threads) threads, $(files) descriptors, before $threads_before, $files_before"
	after=$(own_kib)
	note "  $((SECONDS - seconds)) s, $before KiB before, $after KiB after"
	# (malloc() keeps memory of a session's tables)
	assert_le "$after" $((before + most)) "KiB of the service after: $1"
}

# ---- attacks ----

# exec_programs N: a user records N programs in one process.
exec_programs() {
	expect_exit 0 as_member timeout "$(limit 100)" "$TMP/bin/kymo" record --own -e memory -o "$TMP/member/exec.fxt" --force --bus "$BUS" -- \
		"$TMP/bin/exec-load" "$1"
	expect_exit 0 "$KYMO" check "$TMP/member/exec.fxt"
}

# Without room to report the end of a program, the worker must not loop. malloc() keeps the memory of
# the longest queues, and how long these get depends on the load of the machine. So the memory may grow
# at first, but not again and again.
exec_again_and_again() {
	local before grown=()

	exec_programs 12000
	for _ in {1..16}; do
		before=$(own_kib)
		exec_programs 4000
		grown+=($(($(own_kib) - before)))
		[ "${grown[-1]}" -gt 2048 ] || break
	done
	note "  growth with 4000 more: ${grown[*]} KiB"
	assert_le "${grown[-1]}" 2048 "KiB that the service grows with each 4000 programs"
}

# start_stuck_snapshots: $attacker is then the pid of a program whose snapshots hang
start_stuck_snapshots() {
	# (the shell may make the new file only after it was looked at)
	rm -f "$TMP/stuck"
	in_background=yes as_member "$TMP/bin/stuck-snapshots" >"$TMP/stuck" &
	attacker=$!
	expect_soon 30 grep -q stuck "$TMP/stuck"
}

snapshots_that_hang() {
	start_stuck_snapshots
	# Root's own snapshot is written at once, while they hang.
	expect_exit 0 timeout "$(limit 10)" "$KYMO" snapshot box -o "$TMP/box.fxt" --force --bus "$BUS"
	expect_exit 0 "$KYMO" check "$TMP/box.fxt"
	kill -KILL $attacker
	wait $attacker || true
}

# Each of 200 programs is in its own cgroup, among 20000 others, below a cgroup of the user.
make_cgroups() {
	local cpu_before cpu

	storm=$CGROUP2/kymo-storm-$$
	mkdir "$storm"
	at_exit clear_storm
	chown -R "$member" "$storm"
	cat >"$TMP/bin/storm.sh" <<-END
		echo 0 >"$storm/cgroup.procs"
		exec setpriv --reuid=$member --regid=$member --clear-groups bash -c '
			cd "$storm" && eval "mkdir {1..20000}"
			for i in {1..200}; do
				mkdir s\$i
				echo 0 >s\$i/cgroup.procs
				/bin/true
				# (processes in some of them, whose names are requested)
				if [ \$((i % 20)) = 0 ]; then sleep 600 & fi
			done
			echo 0 >cgroup.procs
			kill \$(jobs -p)
			wait
		'
	END
	cpu_before=$(cpu_ticks)
	bash "$TMP/bin/storm.sh"
	expect_soon 20 service_rests
	cpu=$((($(cpu_ticks) - cpu_before) * 1000 / $(getconf CLK_TCK)))
	note "  $cpu ms of CPU time for 20000 cgroups"
	assert_le "$cpu" 2500 "ms of CPU time of the service in a storm of cgroups"
	expect_exit 0 timeout "$(limit 20)" "$KYMO" snapshot box -o "$TMP/box.fxt" --force --bus "$BUS"
	clear_storm
}
CGROUP2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
cpu_ticks() {
	awk '{ print $14 + $15 }' "/proc/$KYMOD_PID/stat"
}
# service_rests: the service has finished its work: it uses almost no CPU time.
service_rests() {
	local before

	before=$(cpu_ticks)
	sleep 0.5
	[ $(($(cpu_ticks) - before)) -le 1 ]
}
clear_storm() {
	[ ! -d "$storm" ] || find "$storm" -depth -type d -exec rmdir {} +
}

# free_kib: prints the free space for flight recorders.
free_kib() {
	df --output=avail -k "$TMP/run" | tail -n 1
}

fill_runtime_directory() {
	expect_exit 0 as_member "$TMP/bin/kymo" start fill --mode flight --own --keep-size 128M -e sched -b 16M --bus "$BUS"
	for _ in {1..6}; do
		as_member "$TMP/bin/kymo-load" pingpong 50000 >/dev/null
		# (two of them use two thirds)
		assert_ge "$(free_kib)" 12000 "KiB that are left of 48 MiB"
	done
	expect_exit 0 "$KYMO" status box --bus "$BUS"
	expect_exit 0 timeout "$(limit 20)" "$KYMO" snapshot box -o "$TMP/box.fxt" --force --bus "$BUS"
	expect_exit 0 "$KYMO" check "$TMP/box.fxt"
	expect_recorded - as_member "$TMP/bin/kymo" stop fill --bus "$BUS"
}

attack "programs, one after another, in one process that is watched" exec_again_and_again 262144
attack "snapshots into sockets that take nothing" snapshots_that_hang
if [ "$CGROUP2" ]; then
	attack "20000 cgroups" make_cgroups
else
	note "no cgroup2 is mounted: no storm of cgroups"
fi
attack "flight recorders that keep all there is" fill_runtime_directory

# ---- effects on others ----

kill -INT $bystanders
status=0
wait $bystanders || status=$?
cat "$TMP/bystander.log"
n_forks=$(($(forks) - forks_before))
judged=.lost
# (The ring of mappings has those of the whole machine. The attacks are execs of few processes.)
if [ "$status" = 3 ] && [ $n_forks -ge 10000 ]; then
	note "lost mappings are not judged: $n_forks processes were started meanwhile"
	judged='.lost | del(.mappings)'
else
	assert_eq "$status" 0 "exit status of the other user's recording: nothing lost"
fi
expect_exit 0 "$KYMO" stop victim --bus "$BUS"
for file in "$TMP/victim.fxt" "$TMP/bystander/own.fxt"; do
	expect_exit 0 "$KYMO" check "$file"
	summarize "$file"
	assert_eq "$(json "$SUMMARY" "$judged")" '{}' "losses in $file"
	assert_ge "$(json "$SUMMARY" .events.switch)" 200 "switches in $file"
done

# ---- the end of the service during an attack ----

start_stuck_snapshots
stop_seconds=$(unit_settings kymod TimeoutStopSec | tr -dc 0-9)
SECONDS=0
stop_kymod
note "SIGTERM: $SECONDS s"
assert_le $SECONDS "$(limit $((stop_seconds - 5)))" "seconds after SIGTERM"
# (the attacker may have ended when the service announced its end)
kill -KILL $attacker 2>/dev/null || true
wait $attacker || true
kill $roots $theirs
no_bpf_left "the service"
# (data of flight recorders stays for the next service)
rm -rf "$TMP/run/flight"

# ---- a failed start is reported ----

# (with fewer, calls of users could not wait, either)
start_confined --nofile=140:140
expect_exit 1 as_member "$TMP/bin/kymo" start poor --own -o "$TMP/member/poor.fxt" --bus "$BUS"
assert_says "$TMP/stderr" 'Too many open files' "why it does not start"
[ ! -e "$TMP/member/poor.fxt" ] || fail "a session that could not start left its file behind"
expect_exit 0 "$KYMO" list --bus "$BUS"
assert_empty "$TMP/stdout" "list after a start that failed"
stop_kymod
no_bpf_left "a session that could not start"
