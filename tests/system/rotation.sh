#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rotation.sh [SECONDS]: a collection records 50,000 events a second for a while, in chunks of a
# second, beside a plain recording of the same. Chunks join without a gap and without duplicate
# events. Each chunk is complete and valid when it gets its name. Neither the memory of the service
# nor the directory grows.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus

seconds=${1:-7}
round_trips=17000 # a second; three events each
cpu=$(last_cpu)
mkdir "$TMP/etc" "$TMP/out" "$TMP/all"
export RUNTIME_DIRECTORY=$TMP/run
start_bus
# (the test measures its memory, so malloc() must not fill blocks, which meson requests)
MALLOC_PERTURB_=0 "$KYMOD" --bus "$BUS" --config-dir "$TMP/etc" >"$TMP/kymod.log" 2>&1 &
KYMOD_PID=$!
expect_soon 10 "$KYMO" list --bus "$BUS"
cat >"$TMP/etc/rotation.conf" <<-END
	[Collection]
	Categories=sched
	RingSize=16M
	[Output]
	Directory=$TMP/out
	RotateTime=1s
	KeepSize=8M
END

# Takes each chunk as soon as it has its name, before its retention ends, and checks it immediately.
watch_chunks() {
	local file name over=no

	while [ $over = no ]; do
		# (one more round after the last chunk exists)
		[ ! -e "$TMP/last" ] || over=yes
		for file in "$TMP"/out/rotation-*.fxt; do
			name=$(basename "$file")
			[ ! -e "$TMP/all/$name" ] || continue
			ln "$file" "$TMP/all/$name" 2>/dev/null || continue
			"$KYMO" check "$TMP/all/$name" >>"$TMP/checked" 2>&1 || echo "$name: exit status $?" >>"$TMP/wrong"
		done
		sleep 0.02
	done
}
anonymous_kib() {
	awk '$1 == "RssAnon:" { print $2 }' "/proc/$KYMOD_PID/status"
}
kept_bytes() {
	find "$TMP/out" -name 'rotation-*.fxt' -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }'
}

# (in a separate process, because the test measures the service's memory)
"$KYMO" record --direct -o "$TMP/plain.fxt" -e sched -b 16M 2>"$TMP/plain.log" &
plain_pid=$!
expect_soon 20 test -s "$TMP/plain.fxt"
"$KYMO" collect rotation --bus "$BUS" 2>"$TMP/collect.log" &
collect_pid=$!
expect_soon 20 session_is_running rotation
watch_chunks &
watch_pid=$!

begin=$(date +%s%N)
for ((i = 1; i <= seconds; i++)); do
	"$KYMO_LOAD" --cpu "$cpu" pingpong $round_trips >"$TMP/load.json"
	gojq -r '.pid as $pid | .ping, .pong | "\($pid) \(.tid) \(.nvcsw + .nivcsw)"' "$TMP/load.json" >>"$TMP/threads"
	# (ended tasks are kept for a while: this many must have ended first)
	[ $i != $((seconds / 4)) ] || before_kib=$(anonymous_kib)
	now=$(date +%s%N)
	[ $((now - begin)) -ge $((i * 1000000000)) ] ||
		sleep "$(awk -v ns=$((begin + i * 1000000000 - now)) 'BEGIN { printf "%.3f", ns / 1e9 }')"
done
elapsed_ns=$(($(date +%s%N) - begin))
after_kib=$(anonymous_kib)
kill -INT $plain_pid
expect_recorded "$TMP/plain.fxt" finished $plain_pid "$TMP/plain.log"
kill -TERM $collect_pid
wait $collect_pid || fail "kymo collect failed: $(cat "$TMP/collect.log")"
touch "$TMP/last"
wait $watch_pid

[ ! -e "$TMP/wrong" ] || fail "chunks that were not good when they got their name: $(cat "$TMP/wrong" "$TMP/checked" | sed -n 1,20p)"
# The kernel sometimes reports contradictory events, to every tracer, and a machine can stop while a
# record is written.
warnings() {
	sed -n 's/^warning \([a-z-]*\):.*/\1/p' "$1" | grep -v '^sched-unsorted$' | sort -u
}
expect_exit 0 "$KYMO" check "$TMP/plain.fxt"
warnings "$TMP/stdout" >"$TMP/plain.warnings" || true
warnings "$TMP/checked" >"$TMP/all.warnings" || true
comm -13 "$TMP/plain.warnings" "$TMP/all.warnings" >"$TMP/more.warnings"
assert_empty "$TMP/more.warnings" "warnings about chunks that the plain recording does not have"
n_chunks=$(find "$TMP/all" -name '*.fxt' | wc -l)
assert_ge "$n_chunks" $((seconds / 2)) "chunks"
assert_le "$(kept_bytes)" $((8 << 20)) "bytes that are kept"
assert_le "$after_kib" $((before_kib + 8192)) "memory of the service at the end, from $before_kib KiB on"

# Their names show how they join.
previous=
for file in "$TMP"/all/*.fxt; do
	IFS=- read -r _ first last <<<"$(basename "$file" .fxt)"
	[ -z "$previous" ] || assert_eq "$first" "$previous" "begin of a chunk and end of the one before"
	previous=$last
done

# sequence FILE ...: prints the events of the load's threads on that CPU, one after the other,
# without times, because each session reads the clock itself. Threads have their tids, because koids
# of reused tids differ between sessions. Threads of the load have the prefix "load:".
sequence() {
	local file

	for file in "$@"; do
		"$KYMO" dump "$file" | awk -v cpu="cpu=$cpu" '
			function after(word) {
				return match($0, " " word "=[0-9]+") ? substr($0, RSTART + length(word) + 2, RLENGTH - length(word) - 2) : ""
			}
			NR == FNR { ours[$1, $2] = 1; next }
			$1 == "kernel_object" && $3 == "process" { pid[$2] = after("real_id") ? after("real_id") : $2 }
			$1 == "kernel_object" && $3 == "thread" {
				tid = after("real_id") ? after("real_id") : $2
				who[$2] = ((pid[after("process")], tid) in ours ? "load:" : "") tid
			}
			# (a thread whose identity is found later has no object yet)
			function named(koid) { return koid in who ? who[koid] : koid }
			$3 != cpu || /synthetic=true/ { next }
			$2 == "context_switch" {
				$4 = named($4)
				$7 = named($7)
			}
			$2 == "thread_wakeup" { $4 = named(substr($4, 8)) " by " named(after("waker")) }
			$2 ~ /^(context_switch|thread_wakeup)$/ && ($4 ~ /^load:/ || $7 ~ /^load:/) {
				$1 = ""
				print
			}' "$TMP/threads" -
	done
}
# (other processes on this machine may have more mappings than the limit)
summarize "$TMP/plain.fxt"
assert_eq "$(json "$SUMMARY" '.lost.sched // 0')" 0 "scheduling records lost"
sequence "$TMP"/all/*.fxt >"$TMP/chunks.txt"
sequence "$TMP/plain.fxt" >"$TMP/plain.txt"
n_events=$(wc -l <"$TMP/chunks.txt")
note "$n_events events in $n_chunks chunks, $((n_events * 1000 / (elapsed_ns / 1000000))) a second; memory $before_kib KiB, then $after_kib KiB"
# Each thread has as many switch-outs as the kernel counted, and a few more at its end, after the
# count.
switches=$(grep -c '^ context_switch cpu=[0-9]* load:' "$TMP/chunks.txt")
truth=$(awk '{ n += $3 } END { print n }' "$TMP/threads")
assert_ge "$switches" "$truth" "switches in all chunks"
assert_le "$switches" $((truth + 10 * seconds)) "switches in all chunks"
cmp "$TMP/plain.txt" "$TMP/chunks.txt" >"$TMP/difference" 2>&1 || {
	diff "$TMP/plain.txt" "$TMP/chunks.txt" | sed -n 1,20p >&2
	fail "the events of the chunks differ from those of a plain session: $(cat "$TMP/difference")"
}
stop_kymod
