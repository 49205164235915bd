#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Outputs that fail in the middle: no space, quota, errors of the device, readers that go or stop. The recording ends in
# order or goes on, says why, and what has been written is good.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
need_command mountpoint
remember_bpf

# Something that happens all the time, but not so often that what fails is full before it runs.
"$KYMO_LOAD" sleep 10000000 100 &

# is_good FILE WHOLE: nothing is wrong with what is there, but that its end is missing; WHOLE: nor is a record cut
is_good() {
	assert_ge "$(stat -c %s "$1")" 4096 "bytes of $1"
	expect_exit 3 "$KYMO" check --json "$1"
	assert_eq "$(json "$TMP/stdout" .cut_off)" true "$1: is its end missing?"
	assert_eq "$(json "$TMP/stdout" '.errors - (if .truncated then 1 else 0 end)')" 0 "$1: errors"
	[ "$2" = 0 ] || assert_eq "$(json "$TMP/stdout" .truncated)" false "$1: is a record cut?"
	assert_ge "$(json "$TMP/stdout" .records)" 100 "$1: records"
}

# fails FILE WHOLE TEXT COMMAND ...: the recording fails, and says TEXT
fails() {
	local file=$1 whole=$2 text=$3

	shift 3
	rm -f "$file"
	expect_exit 1 timeout 30 "$@"
	assert_contains "$TMP/stderr" "$text" "why it failed"
	! grep 'cannot start' "$TMP/stderr" || fail "it had started"
	is_good "$file" "$whole"
}

record=("$KYMO" record --direct -d 20 --flush 50ms)

# ---- files ----

mkdir "$TMP/small"
mount -t tmpfs -o size=2M,mode=700 none "$TMP/small" || skip "cannot mount a tmpfs"
at_exit umount "$TMP/small"

fails "$TMP/small/t.fxt" 1 'No space left' "${record[@]}" -o "$TMP/small/t.fxt"
fails "$TMP/small/t.fxt" 1 'No space left' "${record[@]}" --compress -o "$TMP/small/t.fxt"
assert_ge "$(stat -c %s "$TMP/small/t.fxt")" 200000 "bytes of the small file system that were used"
rm "$TMP/small/t.fxt"

# shellcheck disable=SC2016 # for the other shell
fails "$TMP/limited.fxt" 1 'File too large' \
	bash -c 'ulimit -f 512; exec "$@"' - "${record[@]}" -o "$TMP/limited.fxt"
assert_le "$(stat -c %s "$TMP/limited.fxt")" 524288 "bytes of the limited file"

fails "$TMP/io.fxt" 1 'Input/output error' "$BAD_OUTPUT" file "$TMP/io.fxt" 5 3 -- "${record[@]}" -o "$TMP/io.fxt"
fails "$TMP/quota.fxt" 1 'Disk quota exceeded' \
	"$BAD_OUTPUT" file "$TMP/quota.fxt" 122 6 -- "${record[@]}" --compress=snappy -o "$TMP/quota.fxt"

# From the first byte on: then nothing is left behind.
expect_exit 1 "$BAD_OUTPUT" file "$TMP/never.fxt" 5 0 -- "${record[@]}" -o "$TMP/never.fxt"
assert_contains "$TMP/stderr" 'Input/output error' "why it failed"
assert_contains "$TMP/stderr" 'the recording failed' "what failed"
! grep 'cannot start' "$TMP/stderr" || fail "it had started"
[ ! -e "$TMP/never.fxt" ] || fail "an empty archive is left"

# ---- pipes and sockets ----

for kind in pipe socket; do
	fails "$TMP/$kind.fxt" 0 'Broken pipe|Connection reset' \
		"$BAD_OUTPUT" $kind close 200000 "$TMP/$kind.fxt" -- "${record[@]}" -o -

	# A reader that rests for longer than rings and queue hold: what did not fit is counted, the rest is whole.
	expect_exit 3 timeout 60 "$BAD_OUTPUT" $kind stall 100000 2500 "$TMP/stalled.fxt" -- \
		"$KYMO" record --direct -d 2.2 --flush 10ms -b 64K -e sched -o -
	assert_contains "$TMP/stderr" 'lost [0-9]+ sched events' "what it says"
	expect_exit 0 "$KYMO" check --json "$TMP/stalled.fxt"
	assert_eq "$(json "$TMP/stdout" .errors)" 0 "errors after the $kind has rested"
	assert_eq "$(json "$TMP/stdout" .cut_off)" false "is the end missing?"
	summarize "$TMP/stalled.fxt"
	assert_ge "$(lost_total)" 1 "events lost while nobody read"
done
no_bpf_left "recordings that failed"

# ---- the service ----

# What fails is one session; it says so in its state, in the journal, and others go on.
start_bus
remember_bpf
start_kymod
expect_exit 0 "$KYMO" start good -o "$TMP/good.fxt" -e sched --comm kymo-load --flush 50ms --bus "$BUS"
expect_exit 0 "$KYMO" start doomed -o "$TMP/small/d.fxt" -e sched --flush 50ms --bus "$BUS"
has_failed() {
	"$KYMO" status --json doomed --bus "$BUS" >"$TMP/doomed.json" && grep -q '"failed"' "$TMP/doomed.json"
}
expect_soon 20 has_failed
assert_eq "$(json "$TMP/doomed.json" '.[0].reason')" "output failed" "its reason"
assert_contains "$TMP/doomed.json" 'No space left' "its error"
assert_contains "$TMP/kymod.log" 'doomed.*No space left' "what the journal has"
is_good "$TMP/small/d.fxt" 1
expect_exit 1 "$KYMO" stop doomed --bus "$BUS"
assert_contains "$TMP/stderr" 'No space left' "what stop says"
expect_exit 0 session_is_running good
expect_exit "0|3" "$KYMO" stop good --bus "$BUS"
expect_exit 0 "$KYMO" check "$TMP/good.fxt"
stop_kymod
no_bpf_left "a session that failed"
