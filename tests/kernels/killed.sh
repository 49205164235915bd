#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A recorder that is killed while it has probes in programs, and one that is killed while it removes
# them: the code of the programs is restored, and nothing stays in the kernel. The means for that
# differ between kernels (docs/architecture/probes.md, "The attacher of the probes").

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../plants.sh"
. "$(dirname "$0")/words.sh"
need_btf

# Each attempt takes seconds on an emulated CPU (tools/test-kernels sets ON_KERNEL_OUT there).
attempts=3
[ -z "${ON_KERNEL_OUT:-}" ] || attempts=1
remember_bpf
start_plant target leak-plant-frames list
pid=${PLANT[target]}
# (when it detaches, the moment of the kill matters)
for how in running detaching; do
	rounds=1
	[ $how = running ] || rounds=$attempts
	for ((round = 1; round <= rounds; round++)); do
		rm -f "$TMP/$how.fxt"
		start_watching "$TMP/$how.fxt" -p "$pid"
		expect_soon 60 has_watches "$TMP/$how.fxt" "$pid" 1
		text_is_probed "$pid" || fail "$how $round: it is watched without a probe"
		if [ $how = detaching ]; then
			kill -INT "$WATCHER"
			sleep "0.0$((RANDOM % 10))"
		fi
		kill -KILL "$WATCHER" 2>/dev/null || true
		wait "$WATCHER" 2>/dev/null || true
		wait_for 20 text_is_clean "$pid" || fail "killed while $how, round $round: probes are left in the code"
		! is_gone "$pid" || fail "killed while $how, round $round: the program has died of it"
		expect_checked "$TMP/$how.fxt"
		holds "$TMP/stdout" '.errors == (if .truncated then 1 else 0 end)' ||
			fail "killed while $how: errors other than a cut tail"
	done
	no_bpf_left "recorders that were killed while $how"
	fact "killed while $how: the code is whole, the archive is readable, nothing is left"
done
feed target
wait_truth target 1
feed target
end_plant target

# Guards only, whose kinds also differ: a program executes none of the code with the probes. (Before
# 6.6, each attempt takes seconds, since each probe is attached separately.)
cp "$(command -v sleep)" "$TMP/program"
"$TMP/program" infinity &
pid=$!
expect_soon 10 is_asleep "$pid"
export RUNTIME_DIRECTORY=$TMP/run
mkdir "$TMP/run"
expect_exit 0 "$LEAVE_PROBES" guards "$pid" $attempts
assert_eq "$(cat "$TMP/stdout")" 0 "breakpoints left in spite of guards"
text_is_clean "$pid" || fail "bytes of code are not those of the file in spite of guards"
fact "guards: whoever is killed while he detaches leaves nothing"
