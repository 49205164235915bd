#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two real sessions overlap, and one of them sheds its parts, and pauses in the end. Merged, time is
# recorded while one of them records, in the whole archive and in each part of it.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../support/collect-words.sh"
need_btf
need_bus
start_service_bus
remember_bpf

profile storm <<-END
	[Collection]
	Categories=sched
	MaxOverhead=0.001cpu
	[Output]
	Directory=$TMP/out
	RotateSize=16M
END
has_paused() {
	"$KYMO" status storm --json --bus "$BUS" >"$TMP/storm.json"
	holds "$TMP/storm.json" '.[0].shed | any(.what == "session")'
}
# The other one has events in the pause.
has_more() {
	"$KYMO" status other --json --bus "$BUS" >"$TMP/other.json"
	[ "$(gojq '.[0].events' "$TMP/other.json")" -ge $((events + 2000)) ]
}
# record_both: makes both recordings. Another load on the machine can make a ring of the other one
# overflow ($exit_status is then 3).
record_both() {
	# (a process that is always there, so that there are switches in the pause: for over 200 s)
	"$KYMO_LOAD" --out "$TMP/nap.json" sleep 100000 2000 &
	nap=$!
	# A storm that costs far more than the limit, as long as it is recorded.
	"$KYMO_LOAD" --cpu "$(last_cpu)" pingpong 100000000 &
	load=$!
	expect_exit 0 "$KYMO" start other -o "$TMP/other.fxt" --force -e sched -p $nap --bus "$BUS"
	start_collect storm
	expect_soon 40 has_paused
	kill $load
	events=0
	has_more || true
	events=$(gojq '.[0].events' "$TMP/other.json")
	expect_soon 30 has_more
	kill -TERM "${COLLECT[storm]}"
	wait "${COLLECT[storm]}" || fail "collect has failed: $(cat "$TMP/storm.log")"
	kill $nap 2>/dev/null || true # (it has ended if the recording took minutes)
	expect_exit "0|3" "$KYMO" stop other --bus "$BUS"
}
for n in 1 2 3; do
	record_both
	[ "$exit_status" != 0 ] || break
	note "disturbed (try $n): $(less_was_recorded | tail -n 1)"
	[ $n = 3 ] || rm -rf "$TMP/out"/*
done
nothing_lost
assert_eq "$exit_status" 0 "exit status of kymo stop"

# The chunk with the begin of the pause.
while read -r archive; do
	summarize "$archive"
	[ "$(json "$SUMMARY" '[(.shed // [])[] | select(.what == "session")] | length')" = 0 ] || break
done < <(chunks storm)
read -r from <<<"$(json "$SUMMARY" '[.shed[] | select(.what == "session")] | first | .ts_ns')"
start=$(json "$SUMMARY" .start_ns) end=$(json "$SUMMARY" .end_ns)
paused=$(json "$SUMMARY" '.duration_ns - .recorded_ns')
assert_ge "$paused" 1000000 "ns of the pause"

# finds_nothing FILE: FILE has no errors and warnings.
finds_nothing() {
	expect_exit 0 "$KYMO" check "$1"
	grep -E '^(error|warning) ' "$TMP/stdout" | grep -vE '^warning sched-unsorted' >"$TMP/findings" || true
	assert_empty "$TMP/findings" "findings of kymo check in $1"
}
# whole FILE: FILE is complete, and all of its time is recorded
whole() {
	finds_nothing "$1"
	summarize "$1"
	assert_eq "$(json "$SUMMARY" '"\(.complete) \(.recorded_ns == .duration_ns)"')" "true true" \
		"whether all of $1 is recorded"
}
# part FILE FROM TO: cuts FILE to $TMP/part.fxt
part() {
	expect_exit 0 "$KYMO" cut --force --from "@$2" --to "@$3" "$1" "$TMP/part.fxt"
}

expect_exit 0 "$KYMO" merge --force "$archive" "$TMP/other.fxt" "$TMP/merged.fxt"
whole "$TMP/merged.fxt"
assert_eq "$(json "$SUMMARY" '[.shed[] | .session] | unique | join(" ")')" storm "sessions that shed"
expect_read "$TMP/merged.fxt" "$KYMO" summary "$TMP/merged.fxt"
assert_contains "$TMP/stdout" '^no recording by session storm from ' "summary"

middle=$((from + (end - from) / 2))
for ends in "$start $middle" "$((from - 1000000)) $middle" "$middle $((middle + 50000000))" "$middle $end"; do
	read -r first last <<<"$ends"
	part "$TMP/merged.fxt" "$first" "$last"
	whole "$TMP/part.fxt"
	assert_ge "$(json "$SUMMARY" '[.shed[] | select(.what == "session")] | length')" 1 "pauses in a part"
	assert_ge "$(json "$SUMMARY" .events.switch)" 5 "switches in a part"
done
# Repaired after it was cut off, it has an end for each session.
size=$(stat -c %s "$TMP/merged.fxt")
head -c $((size / 2 / 8 * 8)) "$TMP/merged.fxt" >"$TMP/half.fxt"
expect_exit 0 "$KYMO" repair --force "$TMP/half.fxt" "$TMP/repaired.fxt"
summarize "$TMP/repaired.fxt"
assert_eq "$(json "$SUMMARY" .complete)" true "whether a repaired archive is complete"

# Alone, the session has nothing in the pause.
begin=$((from - 20000000))
[ $begin -ge "$start" ] || begin=$start
part "$archive" "$begin" "$middle"
finds_nothing "$TMP/part.fxt"
summarize "$TMP/part.fxt"
assert_eq "$(json "$SUMMARY" .complete)" true "whether a part is complete"
assert_le "$(json "$SUMMARY" .recorded_ns)" $((from - begin)) "ns that are recorded in a part"
assert_ge "$(json "$SUMMARY" .recorded_ns)" 1 "ns that are recorded in a part"

end_kymod TERM
no_bpf_left "two recordings at once"
