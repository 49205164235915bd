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
. "$(dirname "$0")/../server-words.sh"
DATA=$TMP # of the server
SOCKET=$TMP/redis.sock
SERVER_OPTIONS=()

# start_redis [COMMAND ...]: a server, started by COMMAND, and clients that keep it busy. (They have no
# timers. A client with a timer, as redis-benchmark, waits in several parts for a slow answer.)
start_redis() {
	"$@" redis-server --port 0 --unixsocket "$SOCKET" --save "" --dir "$DATA" \
		--enable-debug-command local "${SERVER_OPTIONS[@]}" >"$TMP/redis.log" 2>&1 &
	SERVER=$!
	expect_soon 20 redis_answers
	CLIENTS=()
	for _ in 1 2; do
		redis-cli -s "$SOCKET" -r -1 set key value >/dev/null 2>&1 &
		CLIENTS+=($!)
	done
	expect_soon 20 redis_is_busy
}

redis() {
	redis-cli -s "$SOCKET" "$@"
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

note "a neighbour on its CPU"
record_neighbour() {
	start_redis taskset -c "$CPU"
	record_trouble sched,offcpu "$NEIGHBOUR"
	stop_redis
}
judge_neighbour() {
	judge_neighbour_of redis-server
}
record_and_judge "$TMP/t.fxt" record_neighbour judge_neighbour

# The server writes each change to the disk, and waits for it.
record_disk() {
	SERVER_OPTIONS=(--appendonly yes --appendfsync always)
	DATA=$TMP/disk
	start_redis in_group
	record_trouble sched,offcpu,block "$SLOW_DISK"
	stop_redis
}
judge_disk() {
	judge_slow_disk redis-server
}
if make_disk; then
	note "a slow disk"
	record_and_judge "$TMP/t.fxt" record_disk judge_disk
else
	note "not tested: a slow disk (needs loop devices with direct I/O, and control groups that limit them)"
fi

# The priority of the server keeps others from its CPU.
record_memory() {
	SERVER_OPTIONS=()
	DATA=$TMP
	start_redis in_group chrt -f 2
	redis debug populate 150000 key 300 >"$TMP/populated"
	# shellcheck disable=SC2016
	record_trouble sched,offcpu,faults "$(short_memory 'redis-cli -s "$SOCKET" eval "
		for i = 1, 20000 do redis.call(\"get\", \"key:\" .. i * 7) end" 0 >"$OUT.answer"')"
	stop_redis
}
judge_memory() {
	judge_short_memory redis-cli "$(($(cat "$TMP/ns") / 2))"
}
if make_swap; then
	note "a memory limit"
	record_and_judge "$TMP/t.fxt" record_memory judge_memory
else
	note "not tested: a memory limit (needs swap on a file, and control groups that limit memory)"
fi
