#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The stack of the thread or the interrupt that ends a long wait: `kymo flame --off-wake` and
# `kymo why` show the stacks of both ends, with the exact times. Code without frame pointers has
# stacks, too. An interrupt has only its own frames.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command gcc

n=20
load=$TMP/load
both='^wk-wait;.*;wait_for_it;.*;\[woken by\];.*;release_it;release_all;main;.*;wk-release '
timer='^wk-wait;.*;sleep_for_it;.*;\[woken by\];hrtimer_wakeup;.*;\[interrupt\] '

# weight PATTERN: the sum of the times of the folded stacks with PATTERN
weight() {
	awk -v p="$1" '$0 ~ p { n += $NF } END { printf "%.0f", n }' "$TMP/t.folded"
}

# count PATTERN: the number of folded stacks with PATTERN
count() {
	grep -cE "$1" "$TMP/t.folded" || true
}

# blocked FILTER: the time until the wakeup of the waits of wk-wait that FILTER selects, by their
# arguments
blocked() {
	json "$DUMP" '[.[] | select(.name == "offcpu" and .thread_id == $pid) |
		.timestamp_ns as $begin | .args | map({ (.name): .value }) | add |
		select(.state == "S" and ('"$1"')) | .woken - $begin] | add // 0' -s --argjson pid "$pid"
}

record_wakers() {
	record_around "$TMP/r.fxt" -e sched,offcpu,waker-stacks --offcpu-min 5ms "$@" -- "$load" $n
	cp "$TMP/stdout" "$TMP/truth.json"
	expect_exit 0 "$KYMO" symbolize --force "$TMP/r.fxt" "$TMP/t.fxt"
	expect_exit 0 "$KYMO" check --strict "$TMP/t.fxt"
	summarize "$TMP/t.fxt"
	assert_no_loss
	dump_records "$TMP/t.fxt"
	pid=$(json "$TMP/truth.json" .pid)
	waker=$(json "$TMP/truth.json" .waker)
	expect_exit 0 "$KYMO" flame --off-wake --force -o "$TMP/t.folded" "$TMP/t.fxt"
}

# Both ends of each wait are one stack, whose time is exactly that of the waits.
judge_flame() {
	assert_ge "$(weight "$both")" $((n * 20 * 1000000 * 9 / 10)) "time from wait_for_it() to release_it()"
	assert_le "$(weight "$both")" "$(json "$TMP/truth.json" .waited_ns)" "time in wait_for_it()"
	assert_eq "$(weight "$both")" "$(blocked ".waker == $waker and .syscall == \"read\"")" "time until $waker woke it"
	assert_ge "$(weight "$timer")" $((n * 20 * 1000000 * 9 / 10)) "time in sleep_for_it()"
	assert_le "$(weight "$timer")" "$(json "$TMP/truth.json" .slept_ns)" "time in sleep_for_it()"
	assert_eq "$(weight "$timer")" "$(blocked '.context == "interrupt" and .syscall == "clock_nanosleep"')" \
		"time until a timer woke it"
	# The functions that wake are those of the kernel, and not kymo's programs.
	assert_eq "$(count '\[woken by\];(bpf_prog_|bpf_trace_|__bpf_trace_|__traceiter_|try_to_wake_up)')" 0 "stacks with the programs of kymo"
	# Nothing follows the entry of an interrupt: neither a program, nor a system call.
	assert_eq "$(count '\[woken by\];.*(entry_SYSCALL|main;).*\[interrupt\]')" 0 "interrupted threads"
}

# The functions at both ends are in each format, and in the answer of `kymo why`.
judge_views() {
	local format worst

	for format in svg pprof speedscope; do
		expect_exit 0 "$KYMO" flame --off-wake --force --process wk-wait --format $format -o "$TMP/t.$format" "$TMP/t.fxt"
	done
	assert_says "$TMP/t.svg" 'data-n="release_it"'
	assert_says "$TMP/t.speedscope" '"name":"[woken by]"'
	gzip -dc <"$TMP/t.pprof" >"$TMP/pprof"
	grep -aq 'release_it' "$TMP/pprof" || fail "the profile for pprof has no function release_it"
	expect_exit 0 "$KYMO" why --json --into "$TMP/why.fxt" --force -n 1000 "$TMP/t.fxt" "$pid"
	worst='[.worst[].wait | select(.stack and (.stack | any(. == "wait_for_it"))) | .waker_stack]'
	assert_ge "$(json "$TMP/stdout" "$worst | length")" $((n - 1)) "waits in wait_for_it()"
	assert_eq "$(json "$TMP/stdout" "$worst | map(select(index(\"release_it\"))) | length")" \
		"$(json "$TMP/stdout" "$worst | length")" "waits that release_it() has ended"
	expect_exit 0 "$KYMO" why -n 1000 "$TMP/t.fxt" "$pid"
	grep -E '^      woken by wk-release.* in .*write < release_it < ' "$TMP/stdout" >/dev/null ||
		fail "kymo why does not show the stack of the waker"
	expect_exit 0 "$KYMO" check --strict "$TMP/why.fxt"
}

judge_perfetto() {
	local sql="select count(*) as n from slice s join args a using (arg_set_id)
		where s.category = 'why' and a.key glob '*waker_stack' and a.string_value glob '*release_it*'"

	[ "${KYMO_PERFETTO_SQL:-}" ] || return 0
	expect_exit 0 "$KYMO" export --force -o "$TMP/t.pftrace" "$TMP/why.fxt"
	for file in "$TMP/why.fxt" "$TMP/t.pftrace"; do
		# shellcheck disable=SC2086 # a command with its words
		$KYMO_PERFETTO_SQL "$file" "$sql" >"$TMP/rows"
		assert_ge "$(json "$TMP/rows" '.[0].n')" $((n - 1)) "stacks of wakers in Perfetto's view of $file"
	done
}

# By tables, and by frame pointers, which miss the callers of functions without a frame.
gcc -O2 -g -fomit-frame-pointer -o "$TMP/load" "$ROOT/tests/support/loads/waker-load.c"
record_wakers
judge_flame
judge_views
judge_perfetto
gcc -O2 -g -fno-omit-frame-pointer -o "$TMP/load" "$ROOT/tests/support/loads/waker-load.c"
record_wakers --stacks fp
chain='^wk-wait;.*;main;.*\[woken by\];.*;release_all;main;.*wk-release '
assert_ge "$(weight "$chain")" $((n * 20 * 1000000 * 9 / 10)) "time from main() to release_all()"

# With a filter, other wakers have neither a stack nor a name.
load=$TMP/wk-wait
cp "$TMP/load" "$load"
record_wakers --comm wk-wait
assert_eq "$(json "$DUMP" '[.[] | select(.name == "offcpu") | .args[] | select(.name == "waker")] | length' -s)" 0 "wakers"
assert_eq "$(count 'release_it')" 0 "stacks of other wakers"
assert_ge "$(weight "$timer")" $((n * 20 * 1000000 * 9 / 10)) "time in sleep_for_it()"

# Without the category, the processes of wakers are known, and a message names the category.
record_around "$TMP/t.fxt" -e sched,offcpu --offcpu-min 5ms -- "$TMP/load" 3
expect_exit 0 "$KYMO" flame --off-wake --force -o "$TMP/t.folded" "$TMP/t.fxt"
grep -q 'waker-stacks' "$TMP/stderr" || fail "kymo flame does not name the category"
assert_ge "$(count '^wk-wait;.*;\[woken by\];wk-release ')" 1 "wakers without stacks"

# The category needs the waits.
expect_exit 2 "$KYMO" record --direct -e sched,waker-stacks -o "$TMP/no.fxt" -- true
