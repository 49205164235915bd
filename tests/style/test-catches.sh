#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tools/test always comes to its report, and leaves no process behind. Nothing is built: meson,
# ninja and all other tools that it runs are made up.

. "$(dirname "$0")/../lib.sh"
need_command gojq

tree=$TMP/tree
mkdir -p "$tree/tools" "$tree/tests" "$TMP/bin"
cp "$ROOT"/tools/{test,clean-start,test-report} "$tree/tools/"
cp "$ROOT/tests/slowness.sh" "$tree/tests/"
cat >"$TMP/bin/meson" <<-'END'
	#!/bin/bash
	mkdir -p "$2/bpf"
	: >"$2/build.ninja"
END
cat >"$TMP/bin/ninja" <<-END
	#!/bin/bash
	[ ! -e "$TMP/broken" ]
END
# (it has no libFuzzer)
printf '#!/bin/sh\nexit 1\n' >"$TMP/bin/clang"
# (with the policy SCHED_IDLE, or a nice session, the rest would not run beside other tests)
printf '#!/bin/sh\n' | tee "$TMP/bin/sync" "$TMP/bin/chrt" "$TMP/bin/ionice" >"$tree/tools/setup"
echo '/autogroup-1 nice 0' >"$TMP/autogroup"
export KYMO_TEST_AUTOGROUP=$TMP/autogroup
printf '#!/bin/sh\n' >"$tree/tools/check-clang"
cat >"$tree/tools/run-tests" <<-END
	#!/bin/bash
	[ \$2 != asan ] || : >"$TMP/asan-ran"
	echo " \$* " >"$TMP/options-\$2"
	if [ -e "$TMP/hang-\$2" ]; then
		[ ! -e "$TMP/deaf" ] || trap '' TERM
		sleep 987 &
		echo \$\$ \$! "\$3" >"$TMP/hang-\$2"
		wait
	fi
	# (tools/test reads the result when its job has ended, so it is written first)
	echo "{\"name\": \"kymo:unit / \$2\", \"result\": \"OK\"}" >"\$3"
	if [ \$2 = valgrind ] && [ -e "$TMP/kill" ]; then
		kill -KILL \$PPID
	fi
END
cat >"$tree/tools/test-kernels" <<-END
	#!/bin/bash
	if [ -e "$TMP/hang" ]; then
		sleep 987 &
		echo \$\$ \$! "\$2" >"$TMP/hang"
		wait
	fi
	: >"\$3"
	until [ -e "\$4" ]; do
		sleep 0.1
	done
	ls "$TMP" >"$TMP/there-again"
	echo '{"name": "kernel", "result": "OK"}' >"\$2"
	exit 3
END
chmod +x "$tree/tools"/* "$TMP/bin"/*

# run_test ARGUMENT ...: what tools/test says is in $TMP/said
run_test() {
	CI='' KYMO_UNSTEADY=$TMP/kept KYMO_PERFETTO_SQL=none PATH=$TMP/bin:$PATH "$tree/tools/test" "$@" >"$TMP/said" 2>&1
}

note "a build, and the status of the tests on other kernels, which run again after those with sanitizers"
! run_test --kernels || fail "a failure passed: $(cat "$TMP/said")"
assert_line "$TMP/said" 'failed: kernels: the runner failed (exit status 3)'
assert_line "$TMP/said" '7 passed, 1 failed, 0 skipped'
assert_line "$TMP/there-again" asan-ran

note "most tests of the command line run with sanitizers only, and with --long in both builds"
assert_says "$TMP/options-test" ' --no-suite sanitized '
assert_says "$TMP/options-asan-files" ' --suite fuzz --suite cli '
assert_says "$TMP/options-asan" ' --suite unit --suite bus '
! grep -F ' --no-suite sanitized ' "$TMP/options-asan" "$TMP/options-asan-files" || fail "some tests run nowhere"
run_test --long || fail "a run with --long failed: $(cat "$TMP/said")"
assert_line "$TMP/autogroup" 0
! grep -F ' --no-suite sanitized ' "$TMP/options-test" || fail "--long does not run them in build-test"

note "the rest is killed"
: >"$TMP/kill"
! run_test || fail "lost results passed: $(cat "$TMP/said")"
assert_line "$TMP/said" 'failed: valgrind: the runner failed (exit status unknown)'
assert_line "$TMP/said" 'failed: tools/check-clang: clang has found errors'
assert_contains "$TMP/said" '^6 passed, 2 failed, 0 skipped$'
rm "$TMP/kill"
assert_says "$TMP/options-asan" ' --suite unit --suite bus '

note "a build that fails leaves no eBPF programs of an earlier one"
: >"$TMP/broken"
: >"$tree/build-test/bpf/kymo.bpf.o"
! run_test || fail "a failed build passed: $(cat "$TMP/said")"
assert_line "$TMP/said" 'failed: build-test: does not build'
[ ! -e "$tree/build-test/bpf/kymo.bpf.o" ] || fail "the old object is there"
rm "$TMP/broken"

# ends_at SIGNAL FILE [OPTION ...]: while a process hangs that has written its pid, that of its child,
# and the path of a result, to FILE. Neither processes nor results are left.
ends_at() {
	local signal=$1 file=$2 test first second results

	shift 2
	: >"$file"
	CI='' KYMO_PERFETTO_SQL=none PATH=$TMP/bin:$PATH "$tree/tools/test" "$@" >"$TMP/said" 2>&1 &
	test=$!
	expect_soon 20 test -s "$file"
	kill "-$signal" $test
	expect_soon 20 has_ended $test
	read -r first second results <"$file"
	expect_soon 12 has_ended "$first"
	expect_soon 12 has_ended "$second"
	expect_soon 12 test ! -e "${results%/*}"
	rm "$file"
}

for signal in TERM HUP KILL; do
	note "SIG$signal ends the tests on other kernels, those in front, and those beside them"
	ends_at $signal "$TMP/hang" --kernels
	ends_at $signal "$TMP/hang-test"
	ends_at $signal "$TMP/hang-valgrind"
done
note "tests that ignore SIGTERM are killed"
: >"$TMP/deaf"
ends_at TERM "$TMP/hang-test"
ends_at KILL "$TMP/hang-test"
