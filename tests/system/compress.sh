#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings that are compressed while they are written have the same contents as others, are
# smaller, and do not lose more data when the recorder is killed.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../killed-words.sh"
need_btf
need_bus
start_bus
start_kymod

flush_ms=250
# As in kill9.sh, plus the time for compression.
slack_ms=150

declare -A SUFFIX=([snappy]=sz [zstd]=zst [gzip]=gz [columns]=cols)
declare -A UNPACK=([zstd]="zstd -qdc" [gzip]="gzip -dc")

# check_recording FILE METHOD: FILE is compressed by METHOD, valid, and contains the actions of the
# load
check_recording() {
	expect_exit 0 "$KYMO" check --json "$1"
	assert_eq "$(json "$TMP/stdout" .compression)" "$2" "how $1 is packed"
	assert_eq "$(json "$TMP/stdout" .cut_off)" false "cut off"
	unpacked=$(json "$TMP/stdout" .bytes)
	summarize "$1"
	assert_no_loss
	# Each round trip has two switches and two wakeups.
	assert_ge "$(json "$SUMMARY" .events.switch)" 5000 "switches in $1"
	assert_ge "$(json "$SUMMARY" .events.wakeup)" 5000 "wakeups in $1"
	dump_records "$1"
	# The load counts its switches before its exit, which takes a few more.
	assert_within "$(switches_from "$(json "$TMP/truth" .ping.tid)")" \
		"$(json "$TMP/truth" '.ping | .nvcsw + .nivcsw')" 1 "switches of the load in $1"
	# The size in the archive is that of the uncompressed archive, without the names and statistics
	# that are written at the end. (A compressed one has at most half of it.)
	events session_stop >"$TMP/session_stop"
	assert_ge "$(json "$TMP/session_stop" .args.bytes)" $((unpacked * 3 / 4)) "bytes of session_stop"
	assert_le "$(json "$TMP/session_stop" .args.bytes)" "$unpacked" "bytes of session_stop"
}

load=("$KYMO_LOAD" --cpu "$(last_cpu)" --out "$TMP/truth" pingpong 5000)
record_around "$TMP/t.fxt" -- "${load[@]}"
check_recording "$TMP/t.fxt" none
plain=$unpacked
# (only one of the recordings can have other programs, in Python)
gojq 'del(.python) | map_values(type)' "$SUMMARY" >"$TMP/kind.none"

for method in snappy zstd gzip columns; do
	file=$TMP/t.fxt.${SUFFIX[$method]}
	record_around "$file" --json --compress=$method -- "${load[@]}"
	assert_eq "$(json "$TMP/stdout" .bytes)" "$(stat -c %s "$file")" "bytes that record tells"
	check_recording "$file" $method
	gojq 'del(.python) | map_values(type)' "$SUMMARY" | diff "$TMP/kind.none" - ||
		fail "the summary of $method is of another kind"
	note "$method: $(stat -c %s "$file") bytes of $unpacked"
	assert_le $((2 * $(stat -c %s "$file"))) "$unpacked" "twice the size of $file"

	# Through a pipe, and by the usual commands for the format. (names of functions can change
	# between two commands, because eBPF programs are loaded and unloaded)
	"$KYMO" summary --json --no-symbols - <"$file" | gojq 'del(.file, .profile.functions)' >"$TMP/by-pipe"
	gojq 'del(.file, .profile.functions)' "$SUMMARY" | cmp - "$TMP/by-pipe"
	if [ "${UNPACK[$method]:-}" ] && command -v "${UNPACK[$method]%% *}" >/dev/null; then
		${UNPACK[$method]} <"$file" >"$TMP/unpacked.fxt"
		assert_eq "$(stat -c %s "$TMP/unpacked.fxt")" "$unpacked" "bytes by ${UNPACK[$method]}"
	fi

	# The service does the same.
	expect_exit 0 "$KYMO" start packed -o "$TMP/service.fxt" --compress=$method --bus "$BUS"
	"${load[@]}"
	expect_exit 0 "$KYMO" status --json packed --bus "$BUS"
	assert_eq "$(json "$TMP/stdout" '.[0].options.compress')" "$method" "options of the session"
	expect_exit 0 "$KYMO" stop packed --bus "$BUS"
	check_recording "$TMP/service.fxt" $method
	rm "$TMP/service.fxt"
done
assert_ge "$plain" 100000 "bytes without packing"

# The default is zstd, which the name shows, and the size limit applies to the file.
mkdir "$TMP/cwd"
(cd "$TMP/cwd" && "$KYMO" record --direct --compress -d 300ms 2>/dev/null)
assert_eq "$(find "$TMP/cwd" -name 'kymo-*.fxt.zst' | wc -l)" 1 "archives of the default name"
expect_exit 2 "$KYMO" record --direct --compress=lzma -o "$TMP/x"
assert_contains "$TMP/stderr" "is not one of .*snappy, zstd, gzip, columns"
"$KYMO_LOAD" sleep 1000000 200 &
napper=$!
expect_exit 0 "$KYMO" record --direct --compress -o "$TMP/limited" --max-size 100K -d 60 --json
assert_eq "$(json "$TMP/stdout" .reason)" size "why it ended"
assert_ge "$(stat -c %s "$TMP/limited")" 102400 "size of the limited file"

# kill -9 during a recording: the file can be decompressed up to the last flush. (The rings are
# large, because this does not test the speed of compression.)
kill_packing() {
	local before pid

	rm -f "$TMP/killed"
	"$KYMO" record --direct -b 32M --compress="$1" -o "$TMP/killed" 2>/dev/null &
	pid=$!
	expect_soon 10 test -s "$TMP/killed"
	sleep 0.$((5 + RANDOM % 5))
	before=$(boottime)
	kill -9 $pid
	wait $pid 2>/dev/null || true
	check_killed "$TMP/killed" "$before"
	note "$1: $MISSING_MS ms before the kill are missing"
}
for method in snappy zstd gzip columns; do
	missing_at_most $((flush_ms + slack_ms)) kill_packing $method
done
kill $napper

# If a recording is truncated anywhere, the data before that can be read.
for method in snappy zstd gzip columns; do
	file=$TMP/t.fxt.${SUFFIX[$method]}
	size=$(stat -c %s "$file")
	# (pieces of columns are larger, and nothing can be read from a truncated piece)
	least=400
	[ $method != columns ] || least=100
	for share in 20 50 90; do
		head -c $((size * share / 100)) "$file" >"$TMP/cut"
		expect_exit 3 "$KYMO" check --json "$TMP/cut"
		assert_le "$(json "$TMP/stdout" .errors)" 1 "errors in a cut file"
		assert_ge "$(json "$TMP/stdout" .good_records)" $least "records before the cut"
	done
done

stop_kymod
if [ "${KYMO_PERFETTO_SQL:-}" ]; then
	summarize "$TMP/t.fxt.gz"
	perfetto "$TMP/t.fxt.gz" "select count(*) n from sched_slice where dur >= 0" \
		"select count(*) n from stats where name glob 'fuchsia*' and value != 0" >"$TMP/answers"
	assert_ge "$(sed -n 1p "$TMP/answers" | gojq '.[0].n')" 10000 "slices that Perfetto has"
	assert_eq "$(sed -n 2p "$TMP/answers" | gojq '.[0].n')" 0 "complaints of Perfetto"
fi
