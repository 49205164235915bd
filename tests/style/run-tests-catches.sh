#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The runner (tools/run-tests, tools/test-report) tells a wrong answer, a test that hangs, and one
# that fails only now and then apart. It starts them with known settings (tools/clean-start).

. "$(dirname "$0")/../lib.sh"
need_command meson ninja jq
LIMIT_TEST=${LIMIT_TEST:-$KYMO_BUILD/tests/support/limit-test}

mkdir "$TMP/tree"
cat >"$TMP/tree/meson.build" <<-END
	project('odd', 'c')
	sh = find_program('bash')
	add_test_setup('limited', is_default: true, timeout_multiplier: 0,
	    exe_wrapper: ['$LIMIT_TEST', '$ROOT', meson.project_build_root()])
	foreach name : ['right', 'wrong', 'second-time', 'hangs', 'skips']
	    test(name, sh, args: files(name + '.sh'), suite: 'planted', timeout: name == 'hangs' ? 1 : 30)
	endforeach
END
echo 'exit 0' >"$TMP/tree/right.sh"
echo 'echo "the answer is 41, not 42" >&2; exit 1' >"$TMP/tree/wrong.sh"
echo "if [ -e '$TMP/tried' ]; then exit 0; fi; touch '$TMP/tried'; echo 'the machine was busy'; exit 1" \
	>"$TMP/tree/second-time.sh"
# (in a session of its own, as a daemon is)
echo "setsid sleep 987 & echo \$! >>'$TMP/pids'; wait" >"$TMP/tree/hangs.sh"
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
	echo text | env LC_ALL=en_US.UTF-8 TMPDIR=/nowhere BASH_ENV=/nowhere POSIXLY_CORRECT=1 COLUMNS=3 \
		"$ROOT/tools/clean-start" "$TMP/settings" >"$TMP/odd" 2>/dev/null
)
diff "$TMP/known" "$TMP/odd" || fail "settings that tests inherit"
assert_contains "$TMP/odd" '^SigIgn:.0000000000000000$'

note "each kind of failure has its own result"
meson setup "$TMP/build" "$TMP/tree" >"$TMP/setup" 2>&1 || fail "$(cat "$TMP/setup")"
KYMO_TEST_SLOWNESS=1 "$ROOT/tools/run-tests" "$TMP/build" odd "$TMP/odd.json" >"$TMP/log" 2>&1
jq -r '"\(.name | sub("^.* / "; "")) \(.result)"' "$TMP/odd.json" | sort >"$TMP/results"
diff - "$TMP/results" <<-END || fail "results of the planted tests"
	hangs FAIL
	right OK
	second-time UNSTEADY
	skips SKIP
	wrong FAIL
END
jq -r 'select(.name | endswith("hangs")) | .stdout, .stderr' "$TMP/odd.json" >"$TMP/hangs"
assert_contains "$TMP/hangs" '^TIMEOUT: the test did not end within [0-9]+ s; its processes:$'
assert_contains "$TMP/hangs" '^--- [0-9]+: sleep 987'
assert_contains "$TMP/hangs" '\(sleep\), S \(sleeping\), in [a-z_]*nanosleep'
while read -r pid; do
	expect_soon 5 is_gone "$pid"
done <"$TMP/pids"

# report COUNT: the report of those results, with COUNT unsteady tests, and nothing that failed
report() {
	local n

	rm -rf "$TMP/results.d"
	mkdir "$TMP/results.d"
	: >"$TMP/results.d/broken"
	jq -c 'select(.result | IN("OK", "SKIP"))' "$TMP/odd.json" >"$TMP/results.d/test.json"
	for ((n = 0; n < $1; n++)); do
		jq -c --arg n "$n" 'select(.result == "UNSTEADY") | .name += $n' "$TMP/odd.json"
	done >>"$TMP/results.d/test.json"
	CI='' KYMO_UNSTEADY=$TMP/kept "$ROOT/tools/test-report" "$TMP/results.d" 61 >"$TMP/report"
}

note "three unsteady tests pass, four do not"
report 3 || fail "three unsteady tests: $(cat "$TMP/report")"
assert_line "$TMP/report" '3 unsteady, at most 3 may be'
assert_line "$TMP/report" 'unsteady: second-time0: the machine was busy'
assert_line "$TMP/report" '4 passed, 0 failed, 1 skipped'
assert_eq "$(wc -l <"$TMP/kept")" 3 "unsteady tests that are kept"
! report 4 || fail "four unsteady tests passed"
assert_line "$TMP/report" '1 passed, 4 failed, 1 skipped'

note "a test that fails twice, and one that hangs, have failed"
cp "$TMP/odd.json" "$TMP/results.d/test.json"
! CI='' KYMO_UNSTEADY=$TMP/kept "$ROOT/tools/test-report" "$TMP/results.d" 61 >"$TMP/report" ||
	fail "failures passed"
assert_line "$TMP/report" 'failed: wrong'
assert_line "$TMP/report" 'failed: hangs'
assert_line "$TMP/report" '2 passed, 2 failed, 1 skipped'
