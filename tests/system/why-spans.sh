#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Calls of a function that are slow for known reasons, and the time between two marks: `kymo why`
# finds each of them, with its time and its cause. A thread waits for a lock until the end.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
need_command gcc
start_bus
remember_bpf
start_kymod

gcc -D_GNU_SOURCE -g -O2 -pthread -o "$TMP/load" "$ROOT/tests/support/loads/span-load.c"
mkfifo "$TMP/line"

# has_stuck: whether the thread "span-stuck" waits for its lock
SYS_FUTEX=$(printf '#include <sys/syscall.h>\nSYS_futex\n' | gcc -E -P - | tail -n 1)
has_stuck() {
	local task

	for task in /proc/"$load"/task/*; do
		if [ "$(cat "$task/comm")" = span-stuck ] && [[ $(cat "$task/syscall") == "$SYS_FUTEX "* ]]; then
			return 0
		fi
	done
	return 1
}

# record_load: records the load, from the mark "begin" to the mark "end"
record_load() {
	rm -f "$TMP/t.fxt" "$TMP/truth.json"
	expect_exit 0 "$KYMO" start spans -o "$TMP/t.fxt" -e sched,offcpu --call "$TMP/load:transaction" --bus "$BUS"
	session_is_running spans || fail "the session does not run"
	expect_exit 0 "$KYMO" mark spans begin --bus "$BUS"
	"$TMP/load" <"$TMP/line" >"$TMP/truth.json" &
	load=$!
	exec 9>"$TMP/line"
	wait_for 60 holds "$TMP/truth.json" 'any(.[]; .trouble == "stuck")' -s
	wait_for 30 has_stuck
	expect_exit 0 "$KYMO" mark spans end --bus "$BUS"
	expect_exit "0|3" "$KYMO" stop spans --bus "$BUS"
	exec 9>&-
	wait "$load" || fail "the load has failed"
}

# (as record_around: others can make a ring overflow)
for n in 1 2 3; do
	record_load
	something_was_lost >/dev/null || break
	note "disturbed (try $n): $(something_was_lost | tail -n 1)"
done
summarize "$TMP/t.fxt"
assert_no_loss

# The time of the only call with this trouble, and of all calls.
truth() {
	json "$TMP/truth.json" 'select(.trouble == $trouble) | .ns' --arg trouble "$1"
}

note "calls"
expect_exit 0 "$KYMO" why --json --span "$TMP/load:transaction" --worst 30 "$TMP/t.fxt" span-worker
cp "$TMP/stdout" "$TMP/why.json"
assert_eq "$(json "$TMP/why.json" .instances)" 23 "calls"
assert_eq "$(json "$TMP/why.json" .durations.count)" 23 "complete calls"
assert_eq "$(json "$TMP/why.json" '[.worst[].what] | unique | join(",")')" call "instances"
holds "$TMP/why.json" '.total | .total_ns == .running_ns + .runnable_ns + .unknown_ns + .absent_ns +
	([.blocked_ns[]] | add // 0)' || fail "the split is not the calls"
holds "$TMP/why.json" '.total.total_ns == .instances_ns' || fail "the total is not that of the calls"
assert_within "$(json "$TMP/why.json" '.instances_ns')" "$(gojq -s '[.[].ns] | add' "$TMP/truth.json")" 10 \
	"time of all calls"
holds "$TMP/why.json" 'all(.worst[]; ([.path[] | .to_ns - .from_ns] | add // 0) == .to_ns - .from_ns)' ||
	fail "a path is not the call"
# The calls, in the order of the program.
json "$TMP/why.json" '.worst | sort_by(.from_ns)[] | "\(.to_ns - .from_ns) \(.verdict.kind) \(.verdict.culprit.name // "-")"' \
	>"$TMP/calls"
n=0
while read -r trouble kind culprit; do
	n=$((n + 1))
	ns=$(truth "$trouble")
	read -r length found <<<"$(sed -n "${n}p" "$TMP/calls")"
	assert_within "$length" "$ns" 10 "time of $trouble"
	note "$trouble: $ns ns: $found"
	case $found in
	"$kind $culprit") ;;
	"cpu_taken "* | "cpu_idle "* | "nothing "*) note "$trouble: not judged, the machine was too busy" ;;
	*) fail "$trouble: the verdict is $found, expected $kind" ;;
	esac
done <<'END'
lock lock_held span-owner
sleep sleep -
spin runs span-worker
END
expect_exit 0 "$KYMO" why --json --span transaction "$TMP/t.fxt" span-stuck
holds "$TMP/stdout" '.worst[0] | .open and .partial and .verdict.kind == "lock_held" and
	.verdict.culprit.name == "span-load"' || fail "the open call"
expect_exit 1 "$KYMO" why --span transactoin "$TMP/t.fxt"
assert_says "$TMP/stderr" "did you mean 'transaction'" "a function that was not called"

note "marks"
expect_exit 0 "$KYMO" why --json --between begin end "$TMP/t.fxt" span-worker
holds "$TMP/stdout" '.instances == 1 and .worst[0].what == "between" and .worst[0].name == "begin to end"' ||
	fail "the time between the marks"
assert_ge "$(json "$TMP/stdout" '.worst[0] | .to_ns - .from_ns')" "$(json "$TMP/why.json" .instances_ns)" \
	"the time between the marks"
expect_exit 1 "$KYMO" why --between begin ned "$TMP/t.fxt"
assert_says "$TMP/stderr" "no mark 'ned'; did you mean 'end'" "a mark that does not exist"

note "the wait at the end"
expect_exit 0 "$KYMO" why --json "$TMP/t.fxt"
holds "$TMP/stdout" 'any(.open_waits[]; .thread.name == "span-stuck" and .wait.cause == "lock" and .ns > 0 and
	(.wait.stack | length) > 0)' || fail "the open wait"
holds "$TMP/stdout" 'all(.open_waits[]; .thread.name != "span-worker")' || fail "an open wait that is none"

note "tracks"
expect_exit 0 "$KYMO" why --json --span transaction --worst 3 --into "$TMP/tracks.fxt" "$TMP/t.fxt" span-worker
cp "$TMP/stdout" "$TMP/why.json"
expect_exit 0 "$KYMO" check --strict "$TMP/tracks.fxt"
expect_exit 1 "$KYMO" why --into "$TMP/tracks.fxt" "$TMP/t.fxt" span-worker
expect_exit 0 "$KYMO" why --into "$TMP/again.fxt" --span transaction --worst 3 "$TMP/tracks.fxt" span-worker
for file in "$TMP/tracks.fxt" "$TMP/again.fxt"; do
	dump_records "$file"
	assert_eq "$(gojq -s '[.[] | select(.category == "why" and .name == "transaction")] | length' "$DUMP")" 3 "calls in $file"
done
check_results "$TMP/tracks.fxt" "$TMP/again.fxt"
if [ "${KYMO_PERFETTO_SQL:-}" ]; then
	perfetto "$TMP/tracks.fxt" "select dur from slice where category = 'why' and depth = 0 and name = 'transaction' order by dur desc" \
		"select count(*) as n from slice where category = 'why' and name = 'transaction' and depth != 0" \
		"select count(*) as n from flow join slice s on slice_out = s.id join slice d on slice_in = d.id
			where s.category = 'why' and d.category = 'why' and s.ts + s.dur = d.ts" >"$TMP/answers"
	assert_eq "$(sed -n 1p "$TMP/answers" | gojq -c '[.[].dur] | sort')" \
		"$(gojq -c '[.worst[] | .to_ns - .from_ns] | sort' "$TMP/why.json")" "calls in Perfetto"
	assert_eq "$(sed -n 2p "$TMP/answers")" '[{"n":0}]' "calls that are nested in others"
	assert_ge "$(sed -n 3p "$TMP/answers" | gojq '.[0].n')" 1 "flows in Perfetto"
fi
