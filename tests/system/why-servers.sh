#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Real servers, each disturbed by one trouble: the first verdict of `kymo why` about the process that
# suffers names the trouble, the thread that is its reason, and the time.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../judge-words.sh"
need_btf
need_cpus 2
need_command redis-server redis-benchmark redis-cli taskset
CPU=$(last_cpu)

# start_redis [COMMAND ...]: a server, started by COMMAND, and clients that keep it busy
start_redis() {
	"$@" redis-server --port 0 --unixsocket "$TMP/redis.sock" --save "" --dir "$TMP" \
		>"$TMP/redis.log" 2>&1 &
	SERVER=$!
	expect_soon 20 redis_answers
	redis-benchmark -s "$TMP/redis.sock" -c 4 -l -t set -q >"$TMP/clients.log" 2>&1 &
	CLIENTS=$!
	expect_soon 20 redis_is_busy
}

redis() {
	redis-cli -s "$TMP/redis.sock" "$@"
}

redis_answers() {
	[ "$(redis ping 2>/dev/null)" = PONG ]
}

redis_is_busy() {
	[ "$(redis info stats | sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p')" -gt 1000 ]
}

stop_redis() {
	kill "$CLIENTS"
	wait "$CLIENTS" || true
	redis shutdown nosave || true
	wait "$SERVER" || true
}

# record_trouble COMMAND: records while COMMAND disturbs the server, and writes the time that it has
# measured, in ns, to $OUT. (The recorder runs in this process: the trouble begins when it records.)
record_trouble() {
	OUT=$TMP/ns SERVER=$SERVER CPU=$CPU SOCKET=$TMP/redis.sock \
		record_around "$TMP/t.fxt" -e sched,offcpu -- bash -c "$1"
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

# The threads of the server without work are woken by the stop, too. Their waits until then are
# shorter than the stop.
note "a process that is stopped"
record_stopped() {
	start_redis
	record_trouble 'begin=${EPOCHREALTIME/./}
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

# The server counts the time of its commands.
note "a command that takes long: its clients wait"
record_slow() {
	start_redis
	record_trouble 'sleep 0.2
		redis-cli -s "$SOCKET" eval "for i = 1, 3e7 do end return 1" 0 >"$OUT.answer"
		sleep 0.2'
	redis info commandstats | sed -n 's/^cmdstat_eval:.*,usec=\([0-9]*\),.*/\1000/p' >"$TMP/ns"
	stop_redis
}
judge_slow() {
	first_verdict redis-benchmark
	judge program "$SERVER"
	assert_within "$(json "$TMP/why.json" .verdict.ns)" "$(cat "$TMP/ns")" 10 "time of the command"
}
record_and_judge "$TMP/t.fxt" record_slow judge_slow

# The kernel counts the time for which the server was ready.
note "a neighbour on its CPU"
record_neighbour() {
	start_redis taskset -c "$CPU"
	record_trouble 'begin=$(cut -d " " -f 2 /proc/$SERVER/schedstat)
		timeout 2 taskset -c $CPU nice -n -20 sh -c "echo \$\$ >$OUT.hog; while :; do :; done" # goes on
		echo $(($(cut -d " " -f 2 /proc/$SERVER/schedstat) - begin)) $(cat $OUT.hog) >"$OUT"'
	stop_redis
}
judge_neighbour() {
	local ns culprit

	read -r ns culprit <"$TMP/ns"
	first_verdict redis-server
	judge "cpu_taken cpu_idle" "$culprit"
	assert_within "$(json "$TMP/why.json" ".threads[] | select(.thread.tid == $SERVER) | .times.runnable_ns")" \
		"$ns" 10 "time for which the server was ready"
	holds "$TMP/why.json" ".total.holders[0].thread.tid == $culprit" || fail "another thread had its CPU"
}
record_and_judge "$TMP/t.fxt" record_neighbour judge_neighbour
