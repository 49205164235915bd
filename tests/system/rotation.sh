#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rotation.sh [SECONDS]: a collection records 50,000 events a second for a while, in chunks of a
# second, beside a plain recording of the same. Chunks join without a gap and without an event
# twice; each is complete and good the moment it has its name; the memory of the service does not
# grow, and the directory neither.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus

seconds=${1:-10}
round_trips=17000 # a second; three events each
cpu=$(last_cpu)
mkdir "$TMP/etc" "$TMP/out" "$TMP/all"
export RUNTIME_DIRECTORY=$TMP/run
start_bus
# (its memory is looked at: what malloc() gives out is not to be written to by malloc() itself, as
# meson asks for)
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

# Takes each chunk as soon as it has its name, before it is too old to be kept, and looks at it at
# once.
watch_chunks() {
	local file name over=no

	while [ $over = no ]; do
		# (one more round after the last one is there)
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

# (in a process of its own: the service's memory is looked at)
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
	# (those that have ended lately are known on: so many have to have ended first)
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

[ ! -e "$TMP/wrong" ] || fail "chunks that were not good when they got their name: $(cat "$TMP/wrong" "$TMP/checked" | head -20)"
# What the kernel does is odd at times, for everybody; and a machine may stand still while a record
# is being made.
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

# The names say how they join.
previous=
for file in "$TMP"/all/*.fxt; do
	IFS=- read -r _ first last <<<"$(basename "$file" .fxt)"
	[ -z "$previous" ] || assert_eq "$first" "$previous" "begin of a chunk and end of the one before"
	previous=$last
done

# sequence FILE ...: what the threads of the load did on that CPU, one after the other, without
# times, which each session takes itself. All are named by their tid, of which each session has
# koids of its own once it has been given out twice; those of the load with "load:".
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
			# (a thread whose identity came late has no object yet)
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
# (others on this machine may map more than there is room for)
summarize "$TMP/plain.fxt"
assert_eq "$(json "$SUMMARY" '.lost.sched // 0')" 0 "scheduling records lost"
sequence "$TMP"/all/*.fxt >"$TMP/chunks.txt"
sequence "$TMP/plain.fxt" >"$TMP/plain.txt"
n_events=$(wc -l <"$TMP/chunks.txt")
note "$n_events events in $n_chunks chunks, $((n_events * 1000 / (elapsed_ns / 1000000))) a second; memory $before_kib KiB, then $after_kib KiB"
# Each thread left its CPU as often as the kernel says, and a few times more at its end, when nobody
# asked any more.
switches=$(grep -c '^ context_switch cpu=[0-9]* load:' "$TMP/chunks.txt")
truth=$(awk '{ n += $3 } END { print n }' "$TMP/threads")
assert_ge "$switches" "$truth" "switches in all chunks"
assert_le "$switches" $((truth + 10 * seconds)) "switches in all chunks"
cmp "$TMP/plain.txt" "$TMP/chunks.txt" >"$TMP/difference" 2>&1 || {
	diff "$TMP/plain.txt" "$TMP/chunks.txt" | head -20 >&2
	fail "what is in the chunks, one after the other, is not what a plain session has: $(cat "$TMP/difference")"
}
stop_kymod
