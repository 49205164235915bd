#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs that are slow for a known reason: the first verdict of `kymo why` names it, and the time
# is that which the program has measured.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../judge-words.sh"
need_btf
need_cpus 2
need_command gcc
[ -c /dev/fuse ] || note "not tested: a slow file system (no /dev/fuse)"

gcc -D_GNU_SOURCE -g -O2 -pthread -I"$ROOT" -o "$TMP/load" "$ROOT/tests/support/loads/why-load.c" \
	"$ROOT/tests/support/fakes/mute-fuse.c"
mkdir "$TMP/fuse"
record_troubles() {
	MAY_BE_LOST=$SKIPPED_FAULTS record_around "$TMP/t.fxt" -e sched,offcpu,faults -- "$TMP/load" "$TMP/fuse"
	cp "$TMP/stdout" "$TMP/truth.json"
	json "$TMP/truth.json" '[.trouble, .victim, .ns, .culprit] | @tsv' >"$TMP/troubles"
	assert_ge "$(wc -l <"$TMP/troubles")" 4 "troubles"
}

# explain TID: the longest wait of the thread, in $TMP/why.json
explain() {
	expect_read "$TMP/t.fxt" "$KYMO" why --json --worst 1 "$TMP/t.fxt" "$1"
	cp "$TMP/stdout" "$TMP/why.json"
}

# (A switch that the kernel hides divides a wait, or hides the waker.)
judge_troubles() {
	local trouble victim ns culprit kinds kind found

	while IFS=$'\t' read -r trouble victim ns culprit; do
		explain "$victim"
		note "$trouble: $(json "$TMP/why.json" .verdict.text)"
		# The steps of a path have no gaps.
		holds "$TMP/why.json" '.worst[0] | [.path[] | .to_ns - .from_ns] | add == $ns' \
			--argjson ns "$(json "$TMP/why.json" '.worst[0] | .to_ns - .from_ns')" ||
			fail "$trouble: the path is not the wait"
		# The split is the window.
		holds "$TMP/why.json" '.total | .total_ns == .running_ns + .runnable_ns + .unknown_ns + .absent_ns +
			([.blocked_ns[]] | add // 0)' || fail "$trouble: the split is not the window"
		kinds=$(json "$TMP/truth.json" 'select(.trouble == $trouble) | .kinds[]' --arg trouble "$trouble")
		kind=$(json "$TMP/why.json" .verdict.kind)
		found=$(json "$TMP/why.json" '.verdict.culprit.name // ""')
		# (on a busy machine, a thread can wait for its CPU for longer than for the trouble)
		if [ "$found" != "$culprit" ] && holds "$TMP/why.json" '.worst[0] | ([.shares[] |
			select(.kind == "runnable") | .ns] | add // 0) * 3 > .to_ns - .from_ns' &&
			[ "$trouble" != inversion ] && [ "$trouble" != neighbour ]; then
			note "$trouble: not judged, the machine was too busy"
			continue
		fi
		assert_within "$(json "$TMP/why.json" '.worst[0] | .to_ns - .from_ns')" "$ns" 10 "time of $trouble"
		[[ $'\n'$kinds$'\n' == *$'\n'$kind$'\n'* ]] ||
			fail "$trouble: the verdict is $kind, of $(json "$TMP/why.json" '.worst[0] | del(.path) | tojson')"
		assert_eq "$found" "$culprit" "culprit of $trouble"
		# (its file system is in another mount namespace, so the path begins at its root)
		[ "$trouble" != fault ] || holds "$TMP/why.json" '.worst[0] | .faults.file == $file and
			(.verdict.text | endswith(" This was a major page fault of \($file)."))' \
			--arg file "$TMP/fuse/mute-file" || fail "the file of the page fault is missing"
	done <"$TMP/troubles"
}
record_and_judge "$TMP/t.fxt" record_troubles judge_troubles

note "system calls of waits, and times of wakeups"
expect_exit 0 "$KYMO" dump --json "$TMP/t.fxt"
cp "$TMP/stdout" "$TMP/t.json"
json "$TMP/t.json" 'select(.name == "offcpu") | .timestamp_ns as $from |
	[.args[] | {(.name): .value}] | add | select(.woken != null) | .woken >= $from' >"$TMP/woken"
assert_ge "$(grep -c true "$TMP/woken")" 4 "waits with the time of the wakeup"
assert_eq "$(grep -c false "$TMP/woken" || true)" 0 "wakeups before the wait"
if [ "$(uname -m)" = x86_64 ]; then
	explain inv-high
	holds "$TMP/why.json" '.worst[0].wait | .syscall == "futex" and .address > 0' ||
		fail "the futex of inv-high: $(json "$TMP/why.json" '.worst[0].wait | del(.stack)')"
	# The low-priority thread has the lock, and the one that has its CPU is named, too.
	holds "$TMP/why.json" '.worst[0].wait.owner.name == "inv-low" and
		(.verdict.text | test("inv-low .* had the lock when the wait began") and test("inv-mid .* had its CPU")) and
		([.worst[0].path[] | select(.thread.name == "inv-low" and .kind == "runnable") | .holder.name] |
			any(. == "inv-mid"))' ||
		fail "the owner and the hog of inv-high: $(json "$TMP/why.json" '.worst[0] | [.verdict.text, .wait.owner, .path[]]')"
fi

note "threads by name, process and cgroup"
expect_read "$TMP/t.fxt" "$KYMO" why --json "$TMP/t.fxt" 'inv-*'
holds "$TMP/stdout" '[.threads[].thread.name] | sort == ["inv-high", "inv-low", "inv-mid"]' || fail "inv-*"
pid=$(json "$TMP/stdout" '.threads[0].thread.pid')
expect_read "$TMP/t.fxt" "$KYMO" why --json "$TMP/t.fxt" "$pid"
holds "$TMP/stdout" '([.threads[].thread.pid] | unique == [$pid]) and (.threads | length) >= 6' --argjson pid "$pid" ||
	fail "process $pid"
if [ "$(awk '$3 == "cgroup2"' /proc/mounts)" ]; then
	expect_read "$TMP/t.fxt" "$KYMO" why --json "$TMP/t.fxt" /
	holds "$TMP/stdout" '.threads | length > 5' || fail "the root cgroup"
fi

note "the whole machine, and a part of it"
expect_read "$TMP/t.fxt" "$KYMO" why --json "$TMP/t.fxt"
holds "$TMP/stdout" '(.threads | length) > 5 and (.worst | length) == 5 and .sources.waits' ||
	fail "the whole machine"
expect_read "$TMP/t.fxt" "$KYMO" why --json --from 100ms --to 300ms --whole "$TMP/t.fxt" inv-high
holds "$TMP/stdout" '.to_ns - .from_ns == 200000000 and (.worst | length) == 1 and
	.worst[0].what == "window"' || fail "a part of the recording"
expect_exit 1 "$KYMO" why "$TMP/t.fxt" inv-hihg
[[ $(<"$TMP/stderr") == *"did you mean 'inv-high'?"* ]] || fail "no nearest name: $(<"$TMP/stderr")"

[ "$(uname -m)" = x86_64 ] || exit 0
gcc -D_GNU_SOURCE -g -O2 -pthread -o "$TMP/why-deadlock" "$ROOT/tests/support/loads/why-deadlock.c"
# stuck: all four threads wait for a futex
stuck() {
	[ "$(cat /proc/$dead/task/*/wchan 2>/dev/null | grep -o futex | wc -l)" -ge 4 ]
}

# judge_deadlock [heap]: with static mutexes, or with mutexes on the heap
judge_deadlock() {
	"$TMP/why-deadlock" "$@" >"$TMP/ready" &
	dead=$!
	wait_for 20 stuck
	expect_exit 0 "$KYMO" record --direct -d 500ms -e sched,offcpu --force -o "$TMP/dead.fxt"
	kill $dead
	expect_exit 0 "$KYMO" why --json "$TMP/dead.fxt" $dead
	cp "$TMP/stdout" "$TMP/dead.json"
	note "$(json "$TMP/dead.json" .verdict.text)"
	holds "$TMP/dead.json" '.verdict.kind == "deadlock" and
		([.worst[:2][].thread.name] | sort) == ["dead-a", "dead-b"] and
		([.worst[:2][] | .thread.name != .wait.owner.name] | all) and
		([.open_waits[] | select(.deadlocked == 2)] | length) == 2' || fail "the deadlock is not named"
	holds "$TMP/dead.json" '[.open_waits[] | select(.thread.name | test("waiter")) | .wait.owner] |
		length == 2 and all(. == null)' || fail "a condition or semaphore has an owner"
}
note "a deadlock that is older than the recording, and threads whose futex has no owner"
judge_deadlock heap
judge_deadlock
