#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The runner (tools/run-tests, tools/test-report) tells a wrong answer, a test that hangs, and one
# that fails only now and then apart. It starts them with known settings (tools/clean-start).

. "$(dirname "$0")/../lib.sh"
need_command meson ninja gojq
LIMIT_TEST=${LIMIT_TEST:-$KYMO_BUILD/tests/support/limit-test}

mkdir "$TMP/tree"
cat >"$TMP/tree/meson.build" <<-END
	project('odd', 'c')
	sh = find_program('bash')
	add_test_setup('limited', is_default: true, timeout_multiplier: 0,
	    exe_wrapper: ['$LIMIT_TEST', '$ROOT', meson.project_build_root()])
	foreach name : ['right', 'wrong', 'second-time', 'crashes', 'leaks', 'reads-freed', 'hangs', 'skips']
	    test(name, sh, args: files(name + '.sh'), suite: 'planted', timeout: name == 'hangs' ? 1 : 30)
	endforeach
	test('leaves', sh, args: files('leaves.sh'), suite: 'planted')
	test('wrong', sh, args: files('right.sh'), suite: 'namesake')
	# (meson runs no test at all if a selected program is missing)
	test('second-time', executable('not-built', 'not-built.c'), suite: 'others')
	test('deadly', sh, args: files('deadly.sh'), suite: 'deadly')
	test('behind', sh, args: files('right.sh'), suite: 'deadly', priority: -1)
	several = executable('several', 'valgrind-tests.c', 'several.c')
	test('several', several, args: ['0', '4'], suite: 'planted', timeout: 30)
	test('stuck', several, args: ['1', '4'], suite: 'planted', timeout: 1)
	test('killed-once', several, args: ['2', '4'], suite: 'planted', timeout: 30)
	test('killed-later', several, args: ['3', '4'], suite: 'planted', timeout: 30)
END
cp "$ROOT/tests/unit/valgrind-tests.c" "$TMP/tree/"
# (a line for each quarter of the tests)
for name in \
	good second-half wrong-once wrong-later \
	wrong-half hangs-half kills-once kills-later \
	second-third late-half never-run late-once; do
	echo "NAME(${name/-/_}, \"$name\")"
done >"$TMP/tree/valgrind-tests-names.h"
cat >"$TMP/tree/several.c" <<-END
	#include <fcntl.h>
	#include <signal.h>
	#include <stdio.h>
	#include <unistd.h>
	#define TEST(name) int name(int argc, char **argv); int name(int argc, char **argv)
	/* how often it has been called with this name */
	static int calls(const char *name)
	{
		char path[4096];
		int n = 0;

		do
			snprintf(path, sizeof(path), "$TMP/called-%s-%d", name, ++n);
		while (open(path, O_CREAT | O_EXCL, 0600) < 0);
		return n;
	}
	TEST(good) { return argc - 1; }
	TEST(wrong_once) { return calls(argv[0]) == 1 ? argc : 0; }
	TEST(late_once) { return calls(argv[0]) == 1 ? argc : 0; }
	TEST(wrong_later) { return calls(argv[0]) == 2 ? argc : 0; }
	TEST(kills_once) { return calls(argv[0]) == 1 ? kill(getppid(), SIGKILL) : argc - 1; }
	TEST(kills_later) { return calls(argv[0]) == 2 ? kill(getppid(), SIGKILL) : argc - 1; }
	TEST(never_run) { (void)argv; return argc - 1; }
	TEST(wrong_half) { printf("the answer of %s is 41\n", argv[0]); return argc; }
	TEST(second_third)
	{
		fprintf(stderr, "it was late\n");
		return calls(argv[0]) == 1 ? argc : 0;
	}
	TEST(second_half) { (void)argv; return argc - 1; }
	TEST(hangs_half) { (void)argv; return pause() + argc; }
	TEST(late_half) { (void)argv; return argc - 1; }
END
echo 'int main(void) { return 0; }' >"$TMP/tree/not-built.c"
echo 'exit 0' >"$TMP/tree/right.sh"
echo 'echo "the answer is 41, not 42" >&2; exit 1' >"$TMP/tree/wrong.sh"
echo "if [ -e '$TMP/tried' ]; then exit 0; fi; touch '$TMP/tried'
	echo '[  FAILED  ] test_in_time'; echo '==1==ERROR: LeakSanitizer: detected memory leaks'
	echo 'the machine was busy'; exit 1" \
	>"$TMP/tree/second-time.sh"
echo "if [ -e '$TMP/crashed' ]; then exit 0; fi; touch '$TMP/crashed'; bash -c 'kill -SEGV \$\$'" \
	>"$TMP/tree/crashes.sh"
echo "if [ -e '$TMP/leaked' ]; then exit 0; fi; touch '$TMP/leaked'
	echo '==1==ERROR: LeakSanitizer: detected memory leaks'; exit 1" \
	>"$TMP/tree/leaks.sh"
echo "if [ -e '$TMP/freed' ]; then exit 0; fi; touch '$TMP/freed'
	echo '[  FAILED  ] test_freed'; echo '==1==ERROR: AddressSanitizer: heap-use-after-free'; exit 1" \
	>"$TMP/tree/reads-freed.sh"
echo "kill -KILL \$PPID; sleep 1" >"$TMP/tree/deadly.sh"
# (in a session of its own, as a daemon is)
echo "setsid sleep 987 & echo \$! >>'$TMP/pids'; wait" >"$TMP/tree/hangs.sh"
# (it starts programs while the test ends: it has no environment again and again)
echo "[ \$1 = 300 ] && exec sleep 987; exec bash '$TMP/tree/again.sh' \$((\$1 + 1))" >"$TMP/tree/again.sh"
echo "setsid bash '$TMP/tree/again.sh' 0 & echo \$! >>'$TMP/pids'" >"$TMP/tree/leaves.sh"
echo 'echo "SKIP: there is no moon"; exit 77' >"$TMP/tree/skips.sh"

# settings: what a test may inherit
cat >"$TMP/settings" <<-'END'
	#!/bin/bash
	grep -E '^Sig(Ign|Blk)' /proc/self/status
	umask
	env | grep -vE '^(PATH|HOME|USER|LOGNAME|SHELL|PWD|CI|SHLVL|_|KYMO_.*)=' | sort
	readlink /proc/self/fd/0
	ulimit -Sn
	ulimit -c
END
chmod +x "$TMP/settings"

note "tests start with known settings"
"$ROOT/tools/clean-start" "$TMP/settings" >"$TMP/known"
(
	trap '' HUP INT TERM USR1
	umask 077
	ulimit -Sn 64
	env LC_ALL=en_US.UTF-8 TMPDIR=/nowhere BASH_ENV=/nowhere POSIXLY_CORRECT=1 COLUMNS=3 \
		"$ROOT/tools/clean-start" "$TMP/settings" <"$TMP/tree/meson.build" >"$TMP/odd" 2>/dev/null
)
diff "$TMP/known" "$TMP/odd" || fail "settings that tests inherit"
assert_contains "$TMP/odd" '^SigIgn:.0000000000000000$'

note "limits are multiplied by a slowness that is measured every ten seconds"
(
	# shellcheck disable=SC2034,SC2317 # `limit` calls it
	slowness_measure() {
		echo >>"$TMP/measured"
		SLOWNESS=3
	}
	unset EPOCHSECONDS
	EPOCHSECONDS=1000
	for _ in 1 2 3; do
		assert_eq "$(limit 2)" 6 "a limit"
	done
	assert_eq "$(wc -l <"$TMP/measured")" 1 "measurements for three limits"
	echo "991 5" >"$SLOWNESS_KEPT"
	assert_eq "$(limit 2)" 10 "a limit by a valid measurement"
	echo "990 5" >"$SLOWNESS_KEPT"
	assert_eq "$(limit 2)" 6 "a limit after that"
	: >"$SLOWNESS_KEPT"
	assert_eq "$(limit 2)" 6 "a limit while another one is measured"
	assert_eq "$(wc -l <"$TMP/measured")" 3 "measurements"
)
rm "$SLOWNESS_KEPT"
assert_ge "$(KYMO_TEST_SLOWNESS=3 "$BASH" "$ROOT/tests/slowness.sh")" 3 "the slowness, where 3 is the minimum"
assert_eq "$(KYMO_TEST_SLOWNESS=9 "$BASH" "$ROOT/tests/slowness.sh")" 8 "the largest slowness"

note "a wait starts no process, opens nothing for children, and works without a directory"
(
	looks=0 slept=0
	# shellcheck disable=SC2317 # slowness_pause calls it
	sleep() {
		slept=$((slept + 1))
	}
	# shellcheck disable=SC2317 # wait_for calls it
	third_look() {
		[ $((++looks % 3)) = 0 ]
	}
	wait_for 20 third_look
	ls -l /proc/self/fd >"$TMP/before-wait"
	begin=${EPOCHREALTIME/./}
	(wait_for 20 third_look && [ $slept = 0 ]) || fail "a wait in a subshell"
	wait_for 20 third_look
	assert_eq "$looks $slept" "6 0" "looks, and pauses with a process"
	assert_ge $((${EPOCHREALTIME/./} - begin)) 200000 "us of four pauses"
	ls -l /proc/self/fd >"$TMP/after-wait"
	assert_eq "$(wc -l <"$TMP/after-wait")" "$(wc -l <"$TMP/before-wait")" "open files after it"
	rm "$SLOWNESS_KEPT.never"
	slowness_keep "$TMP/missing/slowness"
	wait_for 20 third_look
	slowness_keep ''
	wait_for 20 third_look
	assert_eq "$looks $slept" "12 4" "looks, and pauses with a process, without a directory"
)

note "a verdict about a command that prints much"
status=0
(expect_exit 0 "$BASH" -c 'for i in {1..50000}; do echo "line $i"; done; exit 7') 2>"$TMP/much" || status=$?
assert_eq $status 1 "exit status of a failed check"
assert_says "$TMP/much" 'exit status 7 instead of 0' "the verdict"
assert_le "$(wc -l <"$TMP/much")" 41 "lines of the verdict"

note "a recording is judged again only if the kernel has hidden switches, or others had the CPUs"
cat >"$TMP/judge.sh" <<-'END'
	. "$ROOT/tests/lib.sh"
	. "$ROOT/tests/judge-words.sh"
	hidden_switches() {
		echo "${HIDDEN%+}"
	}
	others_run() {
		[[ $HIDDEN = *+ ]]
	}
	make_recording() {
		echo >>"$RECORDINGS"
	}
	judge_recording() {
		[ "$(wc -l <"$RECORDINGS")" -ge "$GOOD" ]
		echo judged
	}
	record_and_judge x make_recording judge_recording
END
# judged STATUS RECORDINGS HIDDEN GOOD: if HIDDEN switches are hidden in each recording (+: and others
# have the CPUs), and the first good one is number GOOD
judged() {
	rm -f "$TMP/recordings"
	expect_exit "$1" env ROOT="$ROOT" RECORDINGS="$TMP/recordings" HIDDEN="$3" GOOD="$4" bash "$TMP/judge.sh"
	assert_eq "$(wc -l <"$TMP/recordings")" "$2" "recordings, where number $4 is good"
}
judged 0 1 0 1
judged 0 3 7 3
assert_says "$TMP/stdout" 'disturbed (try 2): the kernel has hidden 7 switches'
judged 1 1 0 2
assert_says "$TMP/stderr" 'judge_recording failed in recording 1'
judged 1 5 7 6
judged 0 2 0+ 2
judged 1 5 0+ 6

note "each kind of failure has its own result"
meson setup "$TMP/build" "$TMP/tree" >"$TMP/setup" 2>&1 || fail "$(cat "$TMP/setup")"
ninja -C "$TMP/build" >"$TMP/setup" 2>&1 || fail "$(cat "$TMP/setup")"
rm "$TMP/build/not-built"
export KYMO_TEST_SLOWNESS=1
! "$ROOT/tools/run-tests" "$TMP/build" odd "$TMP/odd.json" --suite planted --suite namesake >"$TMP/log" 2>&1 ||
	fail "failures passed"
gojq -r '"\(.name | sub("^.* / "; "")) \(.result)"' "$TMP/odd.json" | sort >"$TMP/results"
diff - "$TMP/results" <<-END || fail "results of the planted tests"
	crashes FAIL
	hangs FAIL
	killed-later: late-once FAIL
	killed-once: kills-once UNSTEADY
	killed-once: wrong-once UNSTEADY
	leaks FAIL
	leaves FAIL
	reads-freed FAIL
	right OK
	second-time UNSTEADY
	several: second-third UNSTEADY
	several: wrong-half FAIL
	skips SKIP
	stuck: hangs-half FAIL
	stuck: late-half FAIL
	wrong FAIL
	wrong OK
END
gojq -r 'select(.name | endswith("hangs")) | .stdout, .stderr' "$TMP/odd.json" >"$TMP/hangs"
assert_contains "$TMP/hangs" '^TIMEOUT: the test did not end within [0-9]+ s; its processes:$'
assert_contains "$TMP/hangs" '^--- [0-9]+: sleep 987'
assert_contains "$TMP/hangs" '\(sleep\), S \(sleeping\), in [a-z_]*nanosleep'
gojq -r 'select(.name | endswith("leaves")) | .stdout, .stderr' "$TMP/odd.json" >"$TMP/leaves"
assert_contains "$TMP/leaves" '^LEFT: the test has ended'
while read -r pid; do
	expect_soon 5 has_ended "$pid"
done <"$TMP/pids"

note "a test with SCHED_IDLE gives way to other sessions, too"
if [ "$(setsid --wait cat /proc/self/autogroup 2>/dev/null)" ]; then
	for policy in idle other; do
		setsid --wait chrt --$policy 0 "$LIMIT_TEST" "$ROOT" "$TMP/build" cat /proc/self/autogroup >"$TMP/$policy"
	done
	assert_contains "$TMP/idle" ' nice 19$'
	assert_contains "$TMP/other" ' nice 0$'
else
	note "not tested: this kernel does not group processes by session"
fi

note "a test without a result is a failure"
! "$ROOT/tools/run-tests" "$TMP/build" odd "$TMP/deadly.json" --suite deadly --num-processes 1 >"$TMP/log" 2>&1 ||
	fail "tests that meson lost passed"
assert_eq "$(gojq -r '"\(.name | sub("^.* / "; "")) \(.result)"' "$TMP/deadly.json" | sort | paste -sd ,)" \
	"behind LOST,deadly LOST" "results where a test kills meson"

# report COUNT: the report of those results, with COUNT unsteady tests, and nothing that failed
report() {
	local n

	rm -rf "$TMP/results.d"
	mkdir "$TMP/results.d"
	: >"$TMP/results.d/broken"
	gojq -c 'select(.result | IN("OK", "SKIP"))' "$TMP/odd.json" >"$TMP/results.d/test.json"
	for ((n = 0; n < $1; n++)); do
		gojq -c --arg n "$n" 'select(.name | endswith("second-time")) | .name += $n' "$TMP/odd.json"
	done >>"$TMP/results.d/test.json"
	CI='' KYMO_UNSTEADY=$TMP/kept "$ROOT/tools/test-report" "$TMP/results.d" 61 >"$TMP/report"
}

note "three unsteady tests pass, four do not"
report 3 || fail "three unsteady tests: $(cat "$TMP/report")"
assert_line "$TMP/report" '3 unsteady, at most 3 may be'
assert_line "$TMP/report" 'unsteady: planted / second-time0: the machine was busy'
assert_line "$TMP/report" '5 passed, 0 failed, 1 skipped'
assert_eq "$(wc -l <"$TMP/kept")" 3 "unsteady tests that are kept"
! report 4 || fail "four unsteady tests passed"
assert_line "$TMP/report" '2 passed, 4 failed, 1 skipped'

note "a test that fails twice, and one that hangs, have failed"
cp "$TMP/odd.json" "$TMP/results.d/test.json"
! CI='' KYMO_UNSTEADY=$TMP/kept "$ROOT/tools/test-report" "$TMP/results.d" 61 >"$TMP/report" ||
	fail "failures passed"
assert_line "$TMP/report" 'failed: planted / wrong: the answer is 41, not 42'
assert_contains "$TMP/report" '^failed: planted / hangs: TIMEOUT: the test did not end within [0-9]+ s; its processes:$'
assert_line "$TMP/report" 'failed: planted / several: wrong-half: FAIL: wrong-half: exit status 1'
assert_line "$TMP/report" 'unsteady: planted / several: second-third: FAIL: second-third: exit status 1'
assert_line "$TMP/report" 'failed: planted / stuck: hangs-half: FAIL: hangs-half: did not end in time'
assert_line "$TMP/report" 'failed: planted / stuck: late-half: FAIL: late-half: not run'
assert_line "$TMP/report" 'unsteady: planted / killed-once: kills-once: FAIL: kills-once: did not end'
assert_line "$TMP/report" '2 passed, 14 failed, 1 skipped'

note "a fuzz target without a result is a failure, and so is none at all"
mkdir -p "$TMP/bin" "$TMP/fuzzed/tests/fuzz"
printf '#!/bin/sh\ncat "%s"\n' "$TMP/targets" >"$TMP/bin/meson"
echo 'echo stat::number_of_executed_units: 5000' >"$TMP/fuzzed/tests/fuzz/fuzz-good"
# (it takes along the shell that would say how it ended: it, timeout, $(), that one)
cat >"$TMP/fuzzed/tests/fuzz/fuzz-lost" <<-'END'
	above() {
		sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$1/stat"
	}
	kill -KILL "$(above "$(above $PPID)")"
END
sed -i '1i #!/bin/bash' "$TMP/fuzzed/tests/fuzz"/*
chmod +x "$TMP/bin/meson" "$TMP/fuzzed/tests/fuzz"/*
echo '[{"name": "corpus-lost", "cmd": ["x", "y"]}, {"name": "corpus-good", "cmd": ["x", "y"]}]' >"$TMP/targets"
: >"$TMP/fuzz.json"
! PATH=$TMP/bin:$PATH "$ROOT/tests/run-fuzz" "$TMP/fuzzed" 1 "$TMP/fuzz.json" >"$TMP/log" 2>&1 ||
	fail "a lost target passed: $(cat "$TMP/log")"
assert_eq "$(gojq -r '.name + " " + .result' "$TMP/fuzz.json" | paste -sd ,)" 'fuzz-lost FAIL,fuzz-good OK' "results of targets"
assert_says "$TMP/fuzz.json" 'ended without a result'
echo '[]' >"$TMP/targets"
! PATH=$TMP/bin:$PATH "$ROOT/tests/run-fuzz" "$TMP/fuzzed" 1 "$TMP/fuzz.json" >"$TMP/log" 2>&1 ||
	fail "no targets passed"
