#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs that write events of their own: each event is in the archive, or counted as lost; it is
# on its own thread, while that thread ran. Programs from before and after the start, programs that
# are killed, filters, and a second recorder.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../judge-words.sh"
. "$(dirname "$0")/../pages.sh"
need_command cc
need_btf
export KYMO_PROVIDER_DIR=$TMP/run

# records_of FILE [CATEGORY]: prints how many records of app-load FILE has.
records_of() {
	"$KYMO" dump "$1" | grep -c "event ${2:-app_[a-z]*}:" || true
}

# finish PID: ends a recording.
finish() {
	kill -INT "$1"
	wait "$1" || true
}

# ---- eight threads, beside the schedule ----

record_whole() {
	record_around "$TMP/whole.fxt" -b 16M -e sched,app -- "$APP_LOAD" 8 1000 100
}
# (a switch that the kernel hides makes a thread run on another CPU, or not at all)
judge_whole() {
	assert_eq "$(records_of "$TMP/whole.fxt")" 12008 "records of a large buffer"
	check_results "$TMP/whole.fxt"
	slices_within_schedule "$TMP/whole.fxt" 'app_*' 8008 8
}
record_and_judge "$TMP/whole.fxt" record_whole judge_whole

# ---- programs that have ended before a round ----

expect_exit 0 "$KYMO" record --direct -e app -o "$TMP/short.fxt" -- \
	sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do "$1" 1 2; done' sh "$APP_LOAD"
assert_eq "$(records_of "$TMP/short.fxt")" 40 "records of programs that end at once"

# ---- more programs than there are ids ----

expect_exit 0 "$KYMO" record --direct -e app -o "$TMP/many.fxt" -- \
	sh -c 'seq 300 | xargs -P 8 -I {} "$1" 1 2' sh "$APP_LOAD"
assert_eq "$(records_of "$TMP/many.fxt")" 1200 "records of 300 programs"
expect_exit 0 "$KYMO" check --strict "$TMP/many.fxt"
"$KYMO" dump "$TMP/many.fxt" >"$TMP/dump"
assert_ge "$(grep -c "provider_info.*app-load" "$TMP/dump")" 300 "providers of 300 programs"

# ---- the example of libkymo-provider(3) ----

mkdir -p "$TMP/include/libkymo"
cp "$ROOT/provider/kymo-provider.h" "$TMP/include/libkymo"
page_example "$ROOT/docs/libkymo-provider.3" 1 >"$TMP/sums.c"
cc -Wall -Werror -I"$TMP/include" -o "$TMP/sums" "$TMP/sums.c" -L"$KYMO_BUILD/provider" -lkymo-provider
read -r _ _ options <<<"$(page_example "$ROOT/docs/libkymo-provider.3" 2)"
# shellcheck disable=SC2086 # options
(cd "$TMP" && expect_exit 0 "$KYMO" record --direct $options)
assert_eq "$(records_of "$TMP/sums.fxt" sums)" 301 "records of the example"
check_results "$TMP/sums.fxt"

# ---- a buffer that is too small ----

expect_exit 0 "$KYMO" record --direct -b 64K -e app -o "$TMP/tiny.fxt" -- "$APP_LOAD" 8 20000
made=$(grep -x '[0-9]*' "$TMP/stdout")
summarize "$TMP/tiny.fxt"
lost=$(json "$SUMMARY" '.lost.app')
assert_ge "$lost" 1 "records that a buffer of 64 KiB for each CPU has lost"
assert_eq "$(($(records_of "$TMP/tiny.fxt") + lost))" "$made" "written and lost records"
"$KYMO" dump "$TMP/tiny.fxt" >"$TMP/dump"
# (one event of the program's provider, and one of kymo's, for each loss)
assert_ge "$(grep -c provider_event "$TMP/dump")" 2 "provider events"

# ---- a program that runs before the recording, and is killed in it ----

"$APP_LOAD" 4 0 200 >"$TMP/out" &
load=$!
"$KYMO" record --direct -b 16M -e 'app:app_l*' -o "$TMP/killed.fxt" >"$TMP/rec.out" 2>&1 &
recorder=$!
expect_soon 60 grep -qx written "$TMP/out"
kill -9 "$load"
wait "$load" || true
finish "$recorder"
assert_ge "$(records_of "$TMP/killed.fxt")" 6000 "records of a killed program"
assert_eq "$(records_of "$TMP/killed.fxt" app_other)" 0 "records of another category"
# (its threads were in scopes)
expect_exit 0 "$KYMO" check --strict "$TMP/killed.fxt"

# ---- filters ----

# The program waits until its category is recorded.
"$APP_LOAD" 1 2 >"$TMP/out" &
load=$!
expect_exit "0|3" "$KYMO" record --direct -e app --comm nobody -d 1 -o "$TMP/other.fxt"
assert_eq "$(records_of "$TMP/other.fxt")" 0 "records of a program that is not selected"
"$KYMO" record --direct -e app -p "$load" -o "$TMP/chosen.fxt" >"$TMP/rec.out" 2>&1 &
recorder=$!
wait "$load"
finish "$recorder"
assert_eq "$(records_of "$TMP/chosen.fxt")" 4 "records of a program that is selected"

# A program of another user is none of root's own.
chmod 711 "$TMP"
cp "$APP_LOAD" "$KYMO_BUILD/provider/libkymo-provider.so.0" "$TMP"
chmod 755 "$TMP/app-load" "$TMP/libkymo-provider.so.0"
LD_LIBRARY_PATH=$TMP setpriv --reuid=65534 --regid=65534 --clear-groups \
	"$TMP/app-load" 1 2 >"$TMP/foreign" &
foreign=$!
expect_exit 0 "$KYMO" record --direct --own -e app -o "$TMP/own.fxt" -- "$APP_LOAD" 2 100
assert_eq "$(records_of "$TMP/own.fxt")" 302 "records of an own program"
"$KYMO" record --direct --uid 65534 -e app -o "$TMP/uid.fxt" >"$TMP/rec.out" 2>&1 &
recorder=$!
wait "$foreign"
finish "$recorder"
assert_eq "$(records_of "$TMP/uid.fxt")" "$(cat "$TMP/foreign")" "records of a user's program"

# ---- a second recorder, and one after a recorder that was killed ----

"$KYMO" record --direct -e app -o "$TMP/first.fxt" >"$TMP/rec.out" 2>&1 &
recorder=$!
expect_soon 60 test -S "$TMP/run/providers"
expect_exit 1 "$KYMO" record --direct -e app -d 1 -o "$TMP/second.fxt"
assert_says "$TMP/stderr" "a recording with --direct (kymo, process $recorder) has the socket $TMP/run/providers"
kill -9 "$recorder"
wait "$recorder" || true
[ -S "$TMP/run/providers" ] || fail "a killed recorder has removed its socket"
expect_exit 0 "$KYMO" record --direct --force -e app -o "$TMP/second.fxt" -- "$APP_LOAD" 1 2
assert_eq "$(records_of "$TMP/second.fxt")" 4 "records after a killed recorder"
[ ! -e "$TMP/run/providers" ] || fail "the socket is still there"
