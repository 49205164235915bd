#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Collections like kymo-collect@.service, on a bus that starts the service on demand: chunks and
# their retention, flight recorders and their triggers, and kills of each process that takes part.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../support/collect-words.sh"
need_btf
need_bus
need_command busctl

start_service_bus
remember_bpf

check_all() {
	local file

	while read -r file; do
		expect_exit 0 "$KYMO" check "$file"
	done < <(chunks "$1")
}

# ---- chunks ----

profile chunks <<-END
	[Collection]
	Description=chunks of the test
	Categories=sched
	Compress=zstd
	[Output]
	Directory=$TMP/out
	RotateTime=1s
	KeepSize=infinity
END
start_collect chunks
expect_soon 20 has_chunks chunks 2
before=$(n_chunks chunks)
kill -HUP "${COLLECT[chunks]}"
expect_soon 10 has_chunks chunks $((before + 1))
end_collect chunks
check_all chunks
assert_eq "$(find "$TMP/out" -name '.*.part' | wc -l)" 0 "chunks that were not completed"
assert_says "$TMP/chunks.log" 'ended: requested' "the message of collect at its end"
dump_records "$(chunks chunks | sed -n 1p)"
assert_says <(events session_start) 'profile chunks: chunks of the test' "the profile in the archive"
# Each chunk begins in the state in which the previous one ends.
last=
while read -r file; do
	name=$(basename "$file" .fxt.zst)
	begin=$(cut -d- -f2 <<<"$name")
	[ -z "$last" ] || assert_eq "$begin" "$last" "begin of a chunk and end of the one before"
	last=$(cut -d- -f3 <<<"$name")
done < <(chunks chunks)

# has_part: a part of the present chunk has been written
has_part() {
	[ -n "$(find "$TMP/out" -name '.chunks-*.part' -size +1k)" ]
}

# The service is killed: it is started again and continues, and its last chunk is completed.
start_collect chunks
expect_soon 20 has_part
before=$(n_chunks chunks)
end_kymod KILL
expect_soon 20 running chunks
is_gone "${COLLECT[chunks]}" && fail "kymo collect ended with the service"
expect_soon 20 has_chunks chunks $((before + 2))
end_collect chunks
check_left() {
	local file

	# One of these chunks is truncated.
	while read -r file; do
		expect_checked "$file"
	done < <(chunks chunks)
}
check_left
assert_eq "$(find "$TMP/out" -name '.*.part' | wc -l)" 0 "chunks that were not completed"
assert_says "$TMP/chunks.log" 'has ended' "the answer of collect about the service's death"

# The client is killed: its chunks are completed.
start_collect chunks
expect_soon 20 has_part
kill -KILL "${COLLECT[chunks]}"
wait "${COLLECT[chunks]}" 2>/dev/null || true
# (between two chunks, there is no part for a moment)
expect_soon 20 has_no_sessions
expect_soon 20 no_part
check_left

# The size of kept chunks is limited. Chunks of other collections are not touched.
sed '/^Compress=/d; s/KeepSize=.*/KeepSize=1M\nRotateSize=1M/' "$TMP/etc/chunks.conf" >"$TMP/etc/kept.conf"
kept=$(chunks chunks | wc -l)
start_collect kept
for _ in {1..4}; do
	"$KYMO_LOAD" --cpu "$(last_cpu)" pingpong 4000 >/dev/null
	sleep 1
done
end_collect kept
assert_ge "$(n_chunks kept)" 1 "chunks that are kept"
# The newest chunk stays, whatever its size.
newest=$(chunks kept | tail -1 | xargs stat -c %s)
total=$(chunks kept | xargs stat -c %s | awk '{ n += $1 } END { print n }')
assert_le "$total" $((newest > 1048576 ? newest : 1048576)) "bytes that are kept"
assert_eq "$(n_chunks chunks)" "$kept" "chunks of another collection"

# ---- flight recorders ----

profile flight <<-END
	[Collection]
	Mode=flight
	Categories=sched
	[Flight]
	Keep=5s
	KeepSize=16M
	[Trigger]
	Interval=1h
	[Output]
	Directory=$TMP/out
END
snapshot_all() {
	busctl --address="$BUS" call org.kymo.Trace1 /org/kymo/Trace1 org.kymo.Trace1.Manager SnapshotAll s "$1"
}
# When this returns, a moment of the recording is in the archive.
work_marked() {
	little_work
	expect_exit 0 "$KYMO" mark flight "$1" --bus "$BUS"
}
start_collect flight
work_marked first
assert_eq "$(snapshot_all 'something failed')" "uu 1 0" "answer to SnapshotAll"
assert_eq "$(n_chunks flight)" 1 "files of the flight recorder"
check_all flight
dump_records "$(chunks flight)"
assert_eq "$(events mark | gojq -r .args.text | paste -sd,)" 'first,snapshot: something failed' "marks in the snapshot"
# An immediate second request also works.
expect_exit 0 "$KYMO" snapshot --all --reason again --bus "$BUS"
kill -USR1 "$(cat "$TMP/kymod.pid")"
expect_soon 10 has_chunks flight 3
kill -HUP "${COLLECT[flight]}"
expect_soon 10 has_chunks flight 4
check_all flight

# The service is killed: the data in memory is in a file, and it records again.
work_marked last-words
# (when this snapshot is written, all earlier data is in the recorder's memory)
expect_exit 0 "$KYMO" snapshot flight -o "$TMP/witness.fxt" --bus "$BUS"
# slow_close: lets the reaper of the service take a second to close the service's files, as on a
# busy machine. The next service must not begin before it can lock the data.
slow_close() {
	local pid reaper=''

	for pid in $(pgrep -P "$(cat "$TMP/kymod.pid")"); do
		! grep -qx kymod-reaper "/proc/$pid/comm" || reaper=$pid
	done
	strace -qq -p "$reaper" -o "$TMP/strace" -e trace=close_range \
		-e inject=close_range:delay_enter=500000 2>"$TMP/strace.log" &
	expect_soon 10 grep -q '^TracerPid:.[1-9]' "/proc/$reaper/status"
}
! command -v strace >/dev/null || slow_close
end_kymod KILL
expect_soon 20 running flight
expect_soon 20 has_chunks flight 5
dump_records "$(chunks flight | tail -1)"
assert_says <(events mark | gojq -r .args.text) 'last-words' "the mark in what a dead service kept"
expect_soon 10 grep -q "session/flight: saved the data that the service kept when it died in $TMP/out" "$TMP/kymod.log"

# The same applies if the service exits normally and kymo collect continues.
work_marked famous-words
before=$(n_chunks flight)
end_kymod TERM
expect_soon 20 running flight
expect_soon 20 has_chunks flight $((before + 1))
is_gone "${COLLECT[flight]}" && fail "kymo collect ended with the service"
dump_records "$(chunks flight | tail -1)"
assert_says <(events mark | gojq -r .args.text) 'famous-words' \
	"the mark in what a service kept that ended"
end_collect flight
has_no_sessions || fail "sessions are left: $("$KYMO" list --bus "$BUS")"

# A signal instead of a call.
start_collect flight
work_marked by-signal
before=$(n_chunks flight)
kill -USR1 "$(cat "$TMP/kymod.pid")"
expect_soon 10 has_chunks flight $((before + 1))
end_collect flight

# A trigger whose condition occurs often.
sed 's/^Interval=/WakeupLatency=1us\nInterval=/' "$TMP/etc/flight.conf" >"$TMP/etc/trigger.conf"
start_collect trigger
little_work
expect_soon 20 has_chunks trigger 1
# Further events write no file within the interval, but a later call does.
little_work
assert_eq "$(snapshot_all later)" "uu 1 0" "answer to SnapshotAll"
assert_eq "$(n_chunks trigger)" 2 "files of the first trigger, and of a call"
assert_eq "$(grep -c 'session/trigger: writes a snapshot to .*: wakeup of ' "$TMP/kymod.log")" 1 "files by triggers within the interval"
end_collect trigger
check_all trigger
dump_records "$(chunks trigger | sed -n 1p)"
assert_contains "$TMP/kymod.log" \
	'session/trigger: writes a snapshot to .*: wakeup of [^ ]+ \([0-9]+\): .*, the limit is 1\.00 us$' \
	"why, in the log"
assert_ge "$(events trigger | wc -l)" 1 "events that say what was seen"

# Functions that can have no probe: the log names what a pattern leaves out.
if [ "$(uname -m)" = x86_64 ] && command -v gcc >/dev/null; then
	{
		echo 'int l_a(int a) { return a; } int main(void) { return l_a(1); }'
		for f in b c d e; do
			echo "__asm__(\".type l_$f, @function; l_$f: lock incl (%rdi); ret; .size l_$f, . - l_$f\");"
		done
	} >"$TMP/locks.c"
	gcc -o "$TMP/locks" "$TMP/locks.c" || fail "the program cannot be compiled"
	profile locks <<-END
		[Collection]
		Categories=calls
		Call=$TMP/locks:l_*
		[Output]
		Directory=$TMP/out
	END
	start_collect locks
	expect_soon 10 grep -qF "session/locks: Call='l_*' leaves out 'l_b', 'l_c', 'l_d' and 1 more of $TMP/locks: the kernel" \
		"$TMP/kymod.log"
	end_collect locks
fi

end_kymod TERM
no_bpf_left "all of it"
