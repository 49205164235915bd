#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The lint is right: Perfetto's results for the archives of the lint's unit tests agree with the
# warnings, and the correct ones have none of these effects. The lint finds nothing in recordings of
# kymo.

. "$(dirname "$0")/../lib.sh"
need_command gojq
need_perfetto

"$KYMO_LINT_CASES" --write "$TMP"
"$KYMO_LINT_TIME_CASES" --write "$TMP"

ids=()
declare -A question expected # FILE: what Perfetto is asked about it, and is to answer

# trap_is_real ID SQL BAD GOOD: checks Perfetto's answers for the two archives
trap_is_real() {
	local id=$1

	ids+=("$id")
	question[$id.bad.fxt]=$2
	question[$id.good.fxt]=$2
	expected[$id.bad.fxt]=$3
	expected[$id.good.fxt]=$4
	expect_exit 3 "$KYMO" check --strict "$TMP/$id.bad.fxt"
	assert_contains "$TMP/stdout" "^(error|warning) $id:"
	expect_exit 0 "$KYMO" check --strict "$TMP/$id.good.fxt"
}

# ask_all: writes FILE.answer for each file. Many are the same archive, which Perfetto reads once.
ask_all() {
	local sum file answer asked='' words=() files=()

	while read -r sum file; do
		[ "$sum" = "$asked" ] || words+=(-- "$TMP/$file")
		asked=$sum
		words+=("${question[$file]}")
		files+=("$file")
	done < <(cd "$TMP" && md5sum "${!question[@]}" | sort)
	perfetto "${words[@]:1}" >"$TMP/answers"
	for file in "${files[@]}"; do
		IFS= read -r answer || fail "Perfetto does not answer about $file"
		echo "$answer" >"$TMP/$file.answer"
	done <"$TMP/answers"
}

durations="select dur from sched_slice order by ts, cpu"
stats_of() {
	echo "select count(*) n from stats where value != 0 and name = '$1'"
}
none='[{"n":0}]'
one='[{"n":1}]'

trap_is_real wake-running "$durations" '[{"dur":50}]' '[{"dur":100}]'
trap_is_real tie-wakeup "select dur from thread_state where state = 'Running'" \
	'[{"dur":0}]' '[{"dur":100}]'
trap_is_real switch-out-lost "$durations" '[{"dur":-1}]' '[{"dur":100}]'
trap_is_real switch-in-lost "$durations" '[{"dur":100}]' '[{"dur":100},{"dur":100}]'
trap_is_real tie-switch "$durations" '[{"dur":-1},{"dur":0}]' '[{"dur":100},{"dur":100}]'
trap_is_real cpu-left-open "$durations" '[{"dur":-1}]' '[{"dur":100}]'
trap_is_real idle-weight "$durations" '[{"dur":-1}]' '[]'
trap_is_real weight-missing "select priority from sched_slice" '[{"priority":0}]' '[{"priority":120}]'
trap_is_real wake-twice "select count(*) n from thread_state where state = 'W' and dur = 50" \
	'[{"n":2}]' "$none"
trap_is_real koid-over-32-bits "select name from thread where tid = 10" \
	'[{"name":"another"}]' '[{"name":"main"}]'
trap_is_real thread-unnamed "select count(*) n from thread where tid = 99" "$one" "$none"
trap_is_real tid-reused "select count(*) n from thread where tid = 11" '[{"n":2}]' "$one"
trap_is_real thread-processes "select count(*) n from thread where tid = 11" '[{"n":2}]' "$one"
trap_is_real process-type "$(stats_of fuchsia_invalid_event_arg_type)" "$one" "$none"
trap_is_real weight-type "$(stats_of fuchsia_invalid_event_arg_type)" "$one" "$none"
trap_is_real waker-type "$(stats_of fuchsia_invalid_event_arg_type)" "$one" "$none"
trap_is_real string-undefined "$(stats_of fuchsia_invalid_string_ref)" "$one" "$none"
trap_is_real time-over-63-bits "$(stats_of fuchsia_timestamp_overflow)" "$one" "$none"
trap_is_real counter-type "$(stats_of fuchsia_non_numeric_counters)" "$one" "$none"
trap_is_real complete-overlap "$(stats_of slice_drop_overlapping_complete_event)" "$one" "$none"
trap_is_real flow-no-slice "$(stats_of flow_no_enclosing_slice)" "$one" "$none"
trap_is_real flow-twice "$(stats_of flow_duplicate_id)" "$one" "$none"
trap_is_real async-differs "select dur from slice" '[{"dur":-1}]' '[{"dur":100}]'

ask_all
for id in "${ids[@]}"; do
	for kind in bad good; do
		assert_eq "$(cat "$TMP/$id.$kind.fxt.answer")" "${expected[$id.$kind.fxt]}" \
			"$id: Perfetto about the $kind archive"
	done
	note "$id"
done

# A hole of zeros: the whole file is rejected.
! "$KYMO_PERFETTO_SQL" "$TMP/damage.bad.fxt" "select 1" >/dev/null 2>&1 ||
	fail "Perfetto reads an archive with zeros in it"
expect_exit 3 "$KYMO" check "$TMP/damage.bad.fxt"
perfetto "$TMP/damage.good.fxt" "select 1" >/dev/null
