#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Real servers, each disturbed by one trouble in a recording of 5 s: the first verdict of `kymo why`
# names the trouble, the thread that is its reason, and the time. The kernel (or, of a command, the
# server) has counted the time of the trouble. If it did not happen, nothing is judged.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../judge-words.sh"
need_btf
need_cpus 2
need_command redis-server redis-cli taskset chrt
CPU=$(last_cpu)
DATA=$TMP # of the server
SERVER_OPTIONS=()

# start_redis [COMMAND ...]: a server, started by COMMAND, and clients that keep it busy. (They have no
# timers. A client with a timer, as redis-benchmark, waits in several parts for a slow answer.)
start_redis() {
	"$@" redis-server --port 0 --unixsocket "$TMP/redis.sock" --save "" --dir "$DATA" \
		--enable-debug-command local "${SERVER_OPTIONS[@]}" >"$TMP/redis.log" 2>&1 &
	SERVER=$!
	expect_soon 20 redis_answers
	CLIENTS=()
	for _ in 1 2; do
		redis-cli -s "$TMP/redis.sock" -r -1 set key value >/dev/null 2>&1 &
		CLIENTS+=($!)
	done
	expect_soon 20 redis_is_busy
}

redis() {
	redis-cli -s "$TMP/redis.sock" "$@"
}

redis_answers() {
	[ "$(redis ping 2>/dev/null)" = PONG ]
}

redis_is_busy() {
	[ "$(redis info stats | sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p')" -gt 100 ]
}

stop_redis() {
	kill "${CLIENTS[@]}"
	wait "${CLIENTS[@]}" || true
	redis shutdown nosave || true
	wait "$SERVER" || true
}

# record_trouble CATEGORIES COMMAND: records while COMMAND disturbs the server, and writes what was
# counted to $OUT. (The recorder runs in this process: the trouble begins when it records.)
record_trouble() {
	OUT=$TMP/ns SERVER=$SERVER CPU=$CPU SOCKET=$TMP/redis.sock GROUP=${GROUP:-} THROTTLE=${THROTTLE:-} \
		record_around "$TMP/t.fxt" -b 16M -e "$1" --offcpu-min 100us -- bash -c "$2"
}

# first_verdict WHOM: the answer, in $TMP/why.json
first_verdict() {
	expect_read "$TMP/t.fxt" timeout "$(limit 20)" "$KYMO" why --json "$TMP/t.fxt" "$1"
	cp "$TMP/stdout" "$TMP/why.json"
	note "$1: $(json "$TMP/why.json" .verdict.text)"
}

# judge KINDS CULPRIT: the first verdict is one of KINDS, and CULPRIT is its reason: a tid
judge() {
	local kind

	kind=$(json "$TMP/why.json" .verdict.kind)
	[[ " $1 " == *" $kind "* ]] ||
		fail "the verdict is $kind, not $1: $(json "$TMP/why.json" '.worst[0] | del(.path) | tojson')"
	assert_eq "$(json "$TMP/why.json" '.verdict.culprit.tid // 0')" "$2" "culprit"
}

# of_server EXPRESSION: of the times of the server's main thread
of_server() {
	json "$TMP/why.json" ".threads[] | select(.thread.tid == $SERVER) | .times | $1"
}

# find_group CONTROLLER: sets GROUP to a new control group with this controller, and VERSION
find_group() {
	local root

	VERSION=1
	root=$(awk -v c="$1" '$3 == "cgroup" && $4 ~ "(^|,)" c "(,|$)" { print $2; exit }' /proc/mounts)
	if [ -z "$root" ]; then
		VERSION=2
		root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
		grep -qw "${1/blkio/io}" "$root/cgroup.subtree_control" 2>/dev/null || return 1
	fi
	GROUP=$root/kymo-test.$$
	mkdir "$GROUP" 2>/dev/null || return 1
	at_exit rmdir "$GROUP"
}

# in_group COMMAND ...: runs COMMAND in GROUP, as this process
in_group() {
	# shellcheck disable=SC2016
	exec bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$GROUP" "$@"
}

# The threads of the server without work are woken by the stop, too. Their waits until then are
# shorter than the stop.
note "a process that is stopped"
record_stopped() {
	start_redis
	record_trouble sched,offcpu 'begin=${EPOCHREALTIME/./}
		kill -STOP $SERVER
		sleep 1
		kill -CONT $SERVER
		echo $((${EPOCHREALTIME/./} - begin))000 $$ >"$OUT"
		sleep 0.2'
	stop_redis
}
judge_stopped() {
	local ns culprit

	read -r ns culprit <"$TMP/ns"
	first_verdict redis-server
	judge held_back "$culprit"
	assert_within "$(json "$TMP/why.json" .verdict.ns)" "$ns" 10 "time for which the server was stopped"
}
record_and_judge "$TMP/t.fxt" record_stopped judge_stopped

# The server counts the time of its commands. Its priority keeps others from its CPU.
note "a command that takes long: its clients wait"
record_slow() {
	start_redis chrt -f 2
	record_trouble sched,offcpu 'sleep 0.2
		redis-cli -s "$SOCKET" eval "for i = 1, 3e7 do end return 1" 0 >"$OUT.answer"
		sleep 0.2'
	redis info commandstats | sed -n 's/^cmdstat_eval:.*,usec=\([0-9]*\),.*/\1000/p' >"$TMP/ns"
	stop_redis
}
judge_slow() {
	first_verdict redis-cli
	judge program "$SERVER"
	assert_within "$(json "$TMP/why.json" .verdict.ns)" "$(cat "$TMP/ns")" 10 "time of the command"
}
chrt -f 2 true 2>"$TMP/chrt" || skip "real-time priorities are not allowed here"
record_and_judge "$TMP/t.fxt" record_slow judge_slow

# The kernel counts the time for which the server was ready. With its priority, the neighbour has
# the CPU for all of this time, whatever else runs on this machine, but for the kernel's reserve.
note "a neighbour on its CPU"
record_neighbour() {
	start_redis taskset -c "$CPU"
	record_trouble sched,offcpu 'begin=$(cut -d " " -f 2 /proc/$SERVER/schedstat)
		sleep 1.5
		timeout 2 chrt -f 2 taskset -c $CPU sh -c "echo \$\$ >$OUT.hog; while :; do :; done"
		sleep 1.5
		echo $(($(cut -d " " -f 2 /proc/$SERVER/schedstat) - begin)) $(cat $OUT.hog) >"$OUT"'
	stop_redis
}
judge_neighbour() {
	local ns culprit

	read -r ns culprit <"$TMP/ns"
	assert_ge "$ns" 1000000000 "time for which the server was ready"
	first_verdict redis-server
	judge "cpu_taken cpu_idle" "$culprit"
	assert_within "$(of_server .runnable_ns)" "$ns" 10 "time for which the server was ready"
	holds "$TMP/why.json" ".total.holders[0].thread.tid == $culprit" || fail "another thread had its CPU"
}
record_and_judge "$TMP/t.fxt" record_neighbour judge_neighbour

# ---- a slow disk ----

# The server writes each change to a disk, and waits for it. The disk is a loop device, whose file is on
# a disk that takes few requests of the server's control group in a second. Without a journal, all of
# them are the server's. The kernel counts the time for which the server waited (delay accounting).
make_disk() {
	local device

	device=$(findmnt -no MAJ:MIN --target "$TMP") || return 1
	device=$(cd -P "/sys/dev/block/${device// /}" 2>/dev/null && { [ ! -e partition ] || cd ..; } && cat dev) || return 1
	truncate -s 64M "$TMP/image"
	LOOP=$(losetup --direct-io=on --show -f "$TMP/image" 2>/dev/null) || return 1
	at_exit losetup -d "$LOOP"
	mkfs.ext4 -q -O ^has_journal "$LOOP" >"$TMP/mkfs" 2>&1 || return 1
	mkdir "$TMP/disk"
	mount "$LOOP" "$TMP/disk" || return 1
	at_exit umount "$TMP/disk"
	find_group blkio || return 1
	if [ $VERSION = 1 ]; then
		THROTTLE="blkio.throttle.write_iops_device $device 0 20"
	else
		THROTTLE="io.max $device wiops=max wiops=20"
	fi
	DELAYS=$(cat /proc/sys/kernel/task_delayacct 2>/dev/null) || return 1
	at_exit eval "echo $DELAYS >/proc/sys/kernel/task_delayacct"
	echo 1 >/proc/sys/kernel/task_delayacct
}
record_disk() {
	SERVER_OPTIONS=(--appendonly yes --appendfsync always)
	DATA=$TMP/disk
	start_redis in_group
	record_trouble sched,offcpu,block 'delay() { cut -d " " -f 42 /proc/$SERVER/stat; }
		read -r file device free slow <<<"$THROTTLE"
		begin=$(delay)
		sleep 1.5
		echo "$device $slow" >"$GROUP/$file"
		sleep 2
		echo "$device $free" >"$GROUP/$file"
		sleep 1.5
		echo $((($(delay) - begin) * 10000000)) >"$OUT"'
	stop_redis
}
judge_disk() {
	local ns

	ns=$(cat "$TMP/ns")
	assert_ge "$ns" 1000000000 "time for which the server waited for a disk"
	first_verdict redis-server
	judge "slow_disk journal" 0
	holds "$TMP/why.json" '.verdict.text | contains($name)' --arg name "${LOOP#/dev/}" || fail "the disk has no name"
	# (the kernel's time also has that for which the server was ready after each wait)
	assert_le "$(of_server '[.blocked_ns | .disk, .file_system, .writeback] | add | floor')" "$((ns + ns / 10))" \
		"time for which the server waited for a disk"
	assert_ge "$(of_server '[(.blocked_ns | .disk, .file_system, .writeback), .runnable_ns] | add | floor')" \
		"$((ns - ns / 10))" "time for which the server waited for a disk, and was ready"
}
if make_disk; then
	note "a slow disk"
	record_and_judge "$TMP/t.fxt" record_disk judge_disk
else
	note "not tested: a slow disk (needs loop devices with direct I/O, and control groups that limit them)"
fi

# ---- a memory limit ----

# The limit is below the data of the server, so a command that reads all data waits for swap. The
# kernel counts the major page faults. The priority of the server keeps others from its CPU.
make_swap() {
	dd if=/dev/zero of="$TMP/swap" bs=1M count=160 status=none || return 1
	chmod 600 "$TMP/swap"
	mkswap "$TMP/swap" >"$TMP/mkswap" 2>&1 && swapon "$TMP/swap" 2>"$TMP/swapon" || return 1
	at_exit swapoff "$TMP/swap"
	find_group memory || return 1
	if [ $VERSION = 1 ]; then
		THROTTLE="memory.limit_in_bytes -1 24M"
	else
		THROTTLE="memory.max max 24M"
	fi
}
record_memory() {
	SERVER_OPTIONS=()
	DATA=$TMP
	start_redis in_group chrt -f 2
	redis debug populate 150000 key 300 >"$TMP/populated"
	# shellcheck disable=SC2016
	record_trouble sched,offcpu,faults 'faults() { cut -d " " -f 12 /proc/$SERVER/stat; }
		read -r file free short <<<"$THROTTLE"
		begin=$(faults)
		sleep 1.5
		echo "$short" >"$GROUP/$file"
		redis-cli -s "$SOCKET" eval "for i = 1, 20000 do redis.call(\"get\", \"key:\" .. i * 7) end" 0 >"$OUT.answer"
		echo "$free" >"$GROUP/$file"
		sleep 1.5
		echo $(($(faults) - begin)) >"$OUT"'
	stop_redis
}
judge_memory() {
	local n

	n=$(cat "$TMP/ns")
	assert_ge "$n" 100 "major page faults of the server"
	dump_records "$TMP/t.fxt"
	events kymo:page_fault >"$TMP/faults"
	assert_eq "$(json "$TMP/faults" "select(.thread_id == $SERVER and .args.major) | .name" | wc -l)" "$n" \
		"major page faults of the server"
	first_verdict redis-cli
	judge "memory_limit program" "$SERVER"
	# (those before and behind the command belong to no wait for it)
	assert_ge "$(json "$TMP/why.json" ".worst[0].faults | select(.thread.tid == $SERVER) | .major")" "$((n / 2))" \
		"major page faults of the server during the command"
	holds "$TMP/why.json" '.verdict.text | endswith(" of memory without a file.")' || fail "the faults are not named"
}
if make_swap; then
	note "a memory limit"
	record_and_judge "$TMP/t.fxt" record_memory judge_memory
else
	note "not tested: a memory limit (needs swap on a file, and control groups that limit memory)"
fi
