#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Flight recorders: a snapshot contains the last seconds up to the request, complete at both ends,
# while the session continues; also after the service was killed. An output that is not read delays
# nothing.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
start_bus
remember_bpf
start_kymod

# ask VERB WORD ...: kymo on the test's bus
ask() {
	local verb=$1

	shift
	"$KYMO" "$verb" --bus "$BUS" "$@"
}

# mark TEXT: writes a mark into session box when there is space (on a busy machine, there may be
# none for a moment)
mark() {
	expect_soon 20 timeout "$(limit 10)" "$KYMO" mark box "$1" --bus "$BUS"
}

# has_mark TEXT: whether $DUMP has this mark
has_mark() {
	events mark | holds - 'any(.[]; .args.text == $text)' -s --arg text "$1"
}

# check_snapshot FILE SECONDS: checks that FILE is a valid archive of this duration
check_snapshot() {
	check_finds_nothing "$1"
	dump_records "$1"
	assert_eq "$(events session_start | wc -l)" 1 "session_start events in $1"
	assert_eq "$(events session_stop | wc -l)" 1 "session_stop events in $1"
	assert_ge "$(events clock | wc -l)" 2 "clock events in $1"
	summarize "$1"
	assert_ge "$(json "$SUMMARY" '.duration_ns / 1000000 | floor')" $(($2 * 1000)) "ms in $1"
}

# named FILE: checks in the last `summarize` that the thread that has run all the time has a name,
# although it began long before
named() {
	assert_eq "$(gojq -r --argjson tid "$napper_tid" '.threads[] | select(.tid == $tid) | .name' "$SUMMARY")" \
		"$napper_name" "name of a thread in $1"
}

start_held naps sleep 1000000 2000
napper_tid=${HELD[naps]}
begin_held naps
napper_name=$(cat "/proc/$napper_tid/comm")

# ---- of the service ----

expect_exit 0 ask start box --mode flight --keep 2s
expect_exit 0 ask start packed --mode flight --keep-size 2M --compress
mark "at the beginning"
has_forgotten() {
	ask snapshot box -o "$TMP/early.fxt" --force || return 1
	dump_records "$TMP/early.fxt"
	! has_mark "at the beginning"
}
expect_soon 60 has_forgotten
for i in 1 2; do
	mark "before $i"
	expect_exit 0 ask snapshot box -o "$TMP/box-$i.fxt"
	mark "after $i"
	check_snapshot "$TMP/box-$i.fxt" 2
	has_mark "before $i" || fail "snapshot $i does not have what happened before it was asked for"
	has_mark "after $i" && fail "snapshot $i has what happened later"
	has_mark "at the beginning" && fail "snapshot $i has everything"
	assert_eq "$(events session_stop | gojq -r .args.reason)" snapshot "reason in snapshot $i"
	# Its counters cover all chunks in it.
	assert_ge "$(events session_stop | gojq .args.bytes)" $(($(stat -c %s "$TMP/box-$i.fxt") * 8 / 10)) "bytes in snapshot $i"
	named "$TMP/box-$i.fxt"
done
expect_exit 0 ask snapshot packed -o "$TMP/packed.fxt.zst"
check_snapshot "$TMP/packed.fxt.zst" 0
named "$TMP/packed.fxt.zst"
expect_exit 0 ask snapshot box -o "$TMP/box.fxt.gz" --compress=gzip
expect_exit 0 "$KYMO" check "$TMP/box.fxt.gz"
expect_exit 1 ask snapshot packed -o "$TMP/no" --compress
assert_says "$TMP/stderr" 'already compressed with zstd' "complaint about packing twice"

# A reader that does not read: other clients get their snapshots when it has exited. The session
# continues meanwhile.
mkfifo "$TMP/pipe"
# shellcheck disable=SC2217 # it holds the reading end and never reads
sleep 600 <"$TMP/pipe" &
reader=$!
"$KYMO" snapshot box -o - --bus "$BUS" >"$TMP/pipe" 2>/dev/null &
stuck=$!
# (only this byte is ever read)
has_begun() {
	[ "$(dd if="$TMP/pipe" iflag=nonblock bs=1 count=1 status=none | wc -c)" = 1 ]
}
expect_soon 20 has_begun
mark "meanwhile"
is_gone $stuck && fail "a snapshot into a pipe that nobody reads has ended"
kill $stuck
wait $stuck 2>/dev/null || true
expect_exit 0 timeout "$(limit 20)" "$KYMO" snapshot box -o "$TMP/meanwhile.fxt" --bus "$BUS"
check_snapshot "$TMP/meanwhile.fxt" 2
has_mark meanwhile || fail "a mark from the time of the stuck snapshot is missing"
kill $reader

# More data between two drains than it may keep: it reports this, and continues.
start_held flood pingpong 200000
expect_exit 0 ask start flood --mode flight --keep-size 1M -e sched -b 16M --flush 4s -p "${HELD[flood]}"
begin_held flood
dropped() {
	[ "$(timeout "$(limit 10)" "$KYMO" status flood --json --bus "$BUS" | gojq '.[0].dropped_bytes')" -gt 0 ]
}
expect_soon 60 dropped
expect_soon 60 timeout "$(limit 20)" "$KYMO" snapshot flood -o "$TMP/flood.fxt" --force --bus "$BUS"
expect_exit 0 "$KYMO" check "$TMP/flood.fxt"
summarize "$TMP/flood.fxt"
dropped=$(json "$SUMMARY" .dropped_bytes)
assert_ge "$dropped" 1 "dropped bytes in a snapshot"
expect_exit 0 "$KYMO" cut --to 1ms "$TMP/flood.fxt" "$TMP/flood-cut.fxt"
summarize "$TMP/flood-cut.fxt"
assert_eq "$(json "$SUMMARY" .dropped_bytes)" "$dropped" "dropped bytes in a piece of it"
expect_exit 3 ask stop flood
assert_says "$TMP/stderr" 'flood: events came faster than the flight recorder can keep them' \
	"the message at the end"

# The data of an ended session has its end.
expect_exit 0 "$KYMO" record --mode flight --keep 1s -d 1500ms -o "$TMP/ended.fxt" --bus "$BUS"
check_snapshot "$TMP/ended.fxt" 1
assert_eq "$(events session_stop | gojq -r .args.reason)" duration "reason of one that ended"

# ---- killed ----

mark "the last one"
# stops_with TEXT: whether the service has written the mark TEXT. It is then stopped, so that it cannot
# drop the mark before it is killed, because the search takes longer than the recorder keeps it.
stops_with() {
	kill -STOP "$KYMOD_PID"
	expect_soon 5 grep -q '^State:.T' "/proc/$KYMOD_PID/status"
	! mark_is_in "$TMP/run/flight" "$1" || return 0
	kill -CONT "$KYMOD_PID"
	return 1
}
# (at its next flush)
expect_soon 20 stops_with "the last one"
kill -9 "$KYMOD_PID"
wait "$KYMOD_PID" 2>/dev/null || true
no_bpf_left "kill -9 of kymod"
start_kymod
expect_exit 0 ask list
assert_eq "$(awk '{ print $1, $2 }' "$TMP/stdout" | sort)" $'box failed\npacked failed' "the sessions of the next service"
expect_exit 0 ask status box --json
assert_eq "$(json "$TMP/stdout" '.[0].reason')" 'service died' "reason"
for name in box packed; do
	expect_exit 0 ask snapshot $name -o "$TMP/dead-$name"
	expect_exit 3 "$KYMO" check --json "$TMP/dead-$name"
	assert_eq "$(json "$TMP/stdout" .errors)" 0 "errors in what a dead service has left of $name"
	assert_eq "$(json "$TMP/stdout" .cut_off)" true "the answer of check about its end"
	summarize "$TMP/dead-$name"
	named "$TMP/dead-$name"
done
dump_records "$TMP/dead-box"
has_mark "the last one" || fail "the data of a dead service ends before its last flush"
for name in box packed; do
	expect_exit 1 ask stop $name
done
assert_empty <(ls "$TMP/run/flight") "directories of flight recorders"
expect_exit 0 ask list
assert_empty "$TMP/stdout" "list"
stop_kymod

# ---- little space ----

# It leaves as much space in the runtime directory free as it uses, keeps complete data, and frees
# space that other programs need.
mkdir "$TMP/small"
mount -t tmpfs -o size=40M,mode=700 none "$TMP/small" || skip "cannot mount a tmpfs"
at_exit umount "$TMP/small"
RUNTIME_DIRECTORY=$TMP/small "$KYMOD" --bus "$BUS" >"$TMP/kymod.log" 2>&1 &
KYMOD_PID=$!
expect_soon 5 ask list

# free_kib, kept_kib: print the free space in the runtime directory, and the data of recorders in it
free_kib() {
	df --output=avail -k "$TMP/small" | tail -n 1
}
kept_kib() {
	du -sk "$TMP/small/flight" | cut -f 1
}
for name in first second; do
	expect_exit 0 ask start $name --mode flight --keep-size 128M -e sched -b 16M
done
for _ in {1..8}; do
	"$KYMO_LOAD" pingpong 40000 >/dev/null
	assert_ge "$(free_kib)" 10000 "KiB that two flight recorders leave of 40 MiB"
done
assert_ge "$(kept_kib)" 15000 "KiB that they keep"
for name in first second; do
	expect_exit 0 timeout "$(limit 20)" "$KYMO" snapshot $name -o "$TMP/$name.fxt" --bus "$BUS"
	check_finds_nothing "$TMP/$name.fxt"
	expect_exit 0 ask status $name
	assert_contains "$TMP/stdout" '^    keeps:    1[0-9]\.[0-9] MiB instead of 128\.0 MiB: ' \
		"the limit of its memory"
	assert_eq "$(grep -c "session/$name: the flight recorder keeps .* instead of 128\.0 MiB" "$TMP/kymod.log")" \
		1 "lines of the log"
done
note "somebody else needs the room"
# (before that: with many events, they free it immediately)
before=$(kept_kib)
head -c 9M /dev/zero >"$TMP/small/other"
"$KYMO_LOAD" pingpong 40000 >/dev/null
gives_back() {
	echo "$(kept_kib) of $before KiB kept, $(free_kib) free" >"$TMP/given-back"
	[ "$(kept_kib)" -lt $((before - 3000)) ] && [ "$(free_kib)" -ge 6000 ]
}
wait_for 20 gives_back || fail "nothing is given back: $(cat "$TMP/given-back")"
expect_exit 0 timeout "$(limit 20)" "$KYMO" snapshot first -o "$TMP/first.fxt" --force --bus "$BUS"
check_finds_nothing "$TMP/first.fxt"
note "somebody else needs all of it"
# (space that the recorder frees is filled, too)
while :; do
	cat /dev/zero >>"$TMP/small/other" 2>/dev/null || sleep 0.05
done &
filler=$!
fill() {
	"$KYMO_LOAD" pingpong 10000 >/dev/null
	[ "$(kept_kib)" -lt 500 ]
}
expect_soon 20 fill
# They continue, and read new events from the rings. (There are more of these than the rings
# contained.)
events_of() {
	"$KYMO" status "$1" --json --bus "$BUS" | gojq '.[0].events'
}
has_read() {
	fill && [ "$(events_of "$1")" -ge "$2" ]
}
for name in first second; do
	expect_soon 20 has_read $name $(($(events_of $name) + 100000))
	session_is_running $name || fail "a flight recorder that finds no room ends"
done
expect_exit 1 timeout "$(limit 20)" "$KYMO" snapshot first -o "$TMP/no" --bus "$BUS"
kill $filler
wait $filler || true
rm "$TMP/small/other"
keeps_again() {
	"$KYMO_LOAD" pingpong 10000 >/dev/null
	timeout "$(limit 20)" "$KYMO" snapshot "$1" -o "$TMP/again.fxt" --force --bus "$BUS"
}
for name in first second; do
	expect_soon 20 keeps_again $name
	check_finds_nothing "$TMP/again.fxt"
done
for name in first second; do
	expect_recorded - ask stop $name
done
stop_kymod

# ---- with --direct ----

"$KYMO" record --direct --mode flight --keep 1s -o "$TMP/direct.fxt" 2>"$TMP/direct.log" &
pid=$!
has_attached() {
	grep -qs '^link_id:' "/proc/$pid/fdinfo/"*
}
expect_soon 20 has_attached
# n_snapshots: prints how many are complete
n_snapshots() {
	grep -c ': snapshot$' "$TMP/direct.log" || true
}
has_snapshots() {
	[ "$(n_snapshots)" -ge "$1" ]
}
# takes_second: takes a snapshot, and says whether it has a second. (The time of attaching is not
# part of it, and depends on the machine.)
takes_second() {
	local n

	n=$(n_snapshots)
	rm -f "$TMP"/direct-*.fxt
	kill -USR1 $pid
	expect_soon 20 has_snapshots $((n + 1))
	"$KYMO" summary --json --no-symbols "$TMP"/direct-*.fxt | holds - '.duration_ns >= 1e9'
}
expect_soon 20 takes_second
kill -INT $pid
wait $pid || fail "a flight recording failed: $(cat "$TMP/direct.log")"
snapshots=("$TMP"/direct-*.fxt)
assert_eq ${#snapshots[@]} 1 "files of snapshots"
check_snapshot "${snapshots[0]}" 1
named "${snapshots[0]}"
check_snapshot "$TMP/direct.fxt" 1
assert_eq "$(events session_stop | gojq -r .args.reason)" requested "reason of one that was stopped"
no_bpf_left
