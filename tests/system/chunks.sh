#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# One session is split into chunks, and a parallel one is not. Each chunk is a complete archive, and
# so are a head, all later bodies and a tail together. No record is missing or duplicate.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../load-words.sh"
need_btf

# start_recordings CATEGORIES EVERY_MS [PID]: starts both, and returns when they are running
start_recordings() {
	# (the shell opens the fifo before it makes the new file)
	rm -f "$TMP"/t.*.fxt "$TMP/fifo" "$TMP/said"
	mkfifo "$TMP/fifo"
	(
		for fd in "${HELD_FD[@]}"; do
			exec {fd}>&-
		done
		exec "$SPLIT_RECORDING" "$TMP/t" "$@" <"$TMP/fifo" >"$TMP/said" 2>"$TMP/stderr"
	) &
	RECORDING=$!
	exec {RECORDING_FD}>"$TMP/fifo"
	expect_soon 60 grep -qx running "$TMP/said"
}

# Sets N_CHUNKS.
end_recordings() {
	exec {RECORDING_FD}>&-
	wait "$RECORDING" || {
		cat "$TMP/stderr" >&2
		fail "split-recording failed"
	}
	N_CHUNKS=$(sed -n 's/^\([0-9]*\) chunks.*/\1/p' "$TMP/said")
	assert_ge "$N_CHUNKS" 4 "chunks"
}

# The check finds nothing in any archive, and each chunk has its number.
check_all() {
	local i

	for i in $(seq "$N_CHUNKS"); do
		check_finds_nothing "$TMP/t.chunk-$i.fxt"
	done
	for i in 1 2 $((N_CHUNKS / 2)); do
		check_finds_nothing "$TMP/t.from-$i.fxt"
	done
	check_finds_nothing "$TMP/t.plain.fxt"
}

# The events of the last `dump_records`, without those of heads and tails.
happened() {
	grep -E '^\{"record":"(context_switch|thread_wakeup|event|backtrace)"' "$DUMP" |
		grep -vE '"name":"synthetic"|"category":"(kymo|counters)"|"name":"(mapping|sampling|CPU frequency)"' |
		sed 's/"offset":[0-9]*,//'
}

# pairs JSON: prints the switches and wakeups of the load's threads, from the last `dump_records`
pairs() {
	local ping pong

	ping=$(json "$1" .ping.tid)
	pong=$(json "$1" .pong.tid)
	switches | awk -v a="$ping" -v b="$pong" \
		'!$6 && ($3 == a || $3 == b || $4 == a || $4 == b) { print $2, $3, $4, $5 }'
	wakeups | awk -v a="$ping" -v b="$pong" '$3 == a || $3 == b { print $2, $3, $4 }'
}

start_held pairs --cpu "$(last_cpu)" pingpong 4000
start_recordings sched,profile,offcpu,irq,softirq,workqueue,power,counters 250
begin_held pairs
"$KYMO_LOAD" --out "$TMP/procs.json" procs 100
wait_held pairs
sleep 1
end_recordings
end_held pairs
check_all
note "$N_CHUNKS chunks"

for i in $(seq "$N_CHUNKS"); do
	dump_records "$TMP/t.chunk-$i.fxt"
	assert_eq "$(events session_start | gojq .args.chunk)" "$i" "number of a chunk"
	reason=$(events session_stop | gojq -r .args.reason)
	[ "$i" = "$N_CHUNKS" ] && expected=requested || expected=rotated
	assert_eq "$reason" "$expected" "reason of chunk $i"
	happened >>"$TMP/joined"
	rm "$DUMP"
done
dump_records "$TMP/t.from-1.fxt"
happened >"$TMP/whole"
note "$(wc -l <"$TMP/whole") records"
assert_ge "$(wc -l <"$TMP/whole")" 10000 "records that chunks make together"
cmp "$TMP/joined" "$TMP/whole" || fail "chunks and what they make together differ"
pairs "$TMP/pairs.json" >"$TMP/split.pairs"
split_forks=$(events fork | wc -l)
dump_records "$TMP/t.plain.fxt"
pairs "$TMP/pairs.json" >"$TMP/plain.pairs"
plain_forks=$(events fork | wc -l)
note "$(wc -l <"$TMP/plain.pairs") switches and wakeups of the pair"
assert_ge "$(wc -l <"$TMP/plain.pairs")" 10000 "records of the pair"
cmp "$TMP/split.pairs" "$TMP/plain.pairs" || {
	diff "$TMP/split.pairs" "$TMP/plain.pairs" | sed -n 1,20p >&2
	fail "the session that was split has other records of the pair"
}
assert_ge "$split_forks" 100 "forks"
assert_ge "$plain_forks" 100 "forks of the other session"

# The parts, joined by the test itself.
merged=()
for i in $(seq "$N_CHUNKS"); do
	merged+=("$TMP/t.chunk-$i.fxt")
done
expect_exit 0 "$KYMO" merge "${merged[@]}" "$TMP/t.merged.fxt"
check_finds_nothing "$TMP/t.merged.fxt"
dump_records "$TMP/t.merged.fxt"
pairs "$TMP/pairs.json" >"$TMP/merged.pairs"
cmp "$TMP/split.pairs" "$TMP/merged.pairs" || fail "chunks that were merged have other records of the pair"

# The same schedule: no seam where chunks join.
if [ "${KYMO_PERFETTO_SQL:-}" ]; then
	sql="select count(*) n, min(dur) shortest from sched_slice join thread using (utid)
		where tid in ($(json "$TMP/pairs.json" .ping.tid), $(json "$TMP/pairs.json" .pong.tid))"
	errors="select name, value from stats where severity = 'error' and value != 0"
	perfetto "$TMP/t.plain.fxt" "$errors" "$sql" -- "$TMP/t.from-1.fxt" "$errors" "$sql" -- \
		"$TMP/t.chunk-3.fxt" "$errors" >"$TMP/answers"
	{ read -r plain_errors && read -r plain && read -r split_errors && read -r split && read -r chunk_errors; } \
		<"$TMP/answers" || fail "Perfetto does not answer"
	assert_eq "$plain_errors" '[]' "errors of import"
	assert_eq "$split_errors" '[]' "errors of import of what was split"
	assert_eq "$chunk_errors" '[]' "errors of import of a chunk"
	assert_eq "$(gojq '.[0].n' <<<"$split")" "$(gojq '.[0].n' <<<"$plain")" "slices of the pair"
	assert_ge "$(gojq '.[0].shortest' <<<"$split")" 1 "shortest slice"
fi
rm -f "$TMP"/t.*.fxt "$TMP"/*.dump.json

# Losses that lie across the ends of chunks: no chunk shows anything wrong, and each is counted
# once.
SPLIT_RING=65536 start_recordings sched,irq 30
"$KYMO_LOAD" --out "$TMP/game.json" pingpong 20000 &
game=$!
for _ in 1 2 3 4; do
	sleep 0.07
	kill -STOP "$RECORDING"
	sleep 0.05
	kill -CONT "$RECORDING"
done
wait "$game"
end_recordings
check_all
lost=0
for i in $(seq "$N_CHUNKS"); do
	dump_records "$TMP/t.chunk-$i.fxt"
	lost=$((lost + $(events session_stop | gojq .args.lost)))
	assert_eq "$(events lost | gojq -s 'map(select(.event_type == "instant") | .args.count) | add // 0')" \
		"$(events session_stop | gojq .args.lost)" "losses of chunk $i"
	rm "$DUMP"
done
summarize "$TMP/t.from-1.fxt"
note "$N_CHUNKS chunks, $lost records lost"
assert_ge "$lost" 1 "records lost"
assert_eq "$lost" "$(lost_total)" "the losses of all chunks"
rm -f "$TMP"/t.*.fxt

# Allocations of one process: the last chunk alone is enough to find its leaks.
need_command ipcrm
start_resource_load
start_recordings memory,fd,shm,threads 200 "$LOAD"
# both_watch: whether the programs of both recordings watch the load
both_watch() {
	local key id n=0

	key=$(printf '%02x %02x %02x %02x' $((LOAD & 255)) $((LOAD >> 8 & 255)) $((LOAD >> 16 & 255)) 0)
	for id in $({ grep -hs '^map_id:' "/proc/$RECORDING/fdinfo/"* || true; } | awk '{ print $2 }' | sort -u); do
		# shellcheck disable=SC2086 # bytes
		! bpftool map show id "$id" | grep ' name memory_processe ' >/dev/null ||
			! bpftool map lookup id "$id" key hex $key >/dev/null 2>&1 || n=$((n + 1))
	done
	[ $n = 2 ]
}
expect_soon 20 both_watch
go
expect_soon 60 grep -q . "$TMP/truth"
sleep 0.5
end_recordings
kill "$LOAD"
wait "$LOAD" || true
check_all

# what FILE: prints the leaked resources, with the number of their blocks
what() {
	dump_records "$1"
	events block | gojq -r '[.args.resource, .args.address, .args.size, .args.function] | @tsv' | sort -u
}
what "$TMP/t.plain.fxt" | cut -f 1,3,4 | sort >"$TMP/plain.left"
what "$TMP/t.from-2.fxt" | cut -f 1,3,4 | sort >"$TMP/split.left"
assert_ge "$(wc -l <"$TMP/plain.left")" 20 "blocks that are left"
cmp "$TMP/plain.left" "$TMP/split.left" || {
	diff "$TMP/plain.left" "$TMP/split.left" | sed -n 1,10p >&2
	fail "other blocks are left where the session was split"
}
expect_read "$TMP/t.chunk-$N_CHUNKS.fxt" "$KYMO" leaks --top 100 "$TMP/t.chunk-$N_CHUNKS.fxt"
assert_says "$TMP/stdout" leak_open "leaks by the last chunk alone"
