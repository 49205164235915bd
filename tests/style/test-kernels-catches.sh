#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What tools/test-kernels says of tests that are wrong on one kernel, always or once. No kernel is
# booted: the tests, and the kernels, are made up.

. "$(dirname "$0")/../lib.sh"
need_btf

# said KERNEL TEST FIRST SECOND: what it says there when it runs for the first time, and later; a
# number is its exit status, then
mkdir -p "$TMP/said"
said() {
	printf '%s\n' "$3" "$4" >"$TMP/said/$1-$2"
}
for kernel in this one two; do
	said $kernel right 42 42
	said $kernel once-wrong-here 42 42
	said $kernel once-wrong-there 42 42
	said $kernel once-failed-there 42 42
	said $kernel wrong-there 42 42
	said $kernel lost-there 42 42
done
said this once-wrong-here 41 42
said one once-wrong-there 41 42
said one once-failed-there 'exit 1' 42
said two wrong-there 41 41
said two lost-there 'exit 0' 'exit 0'

mkdir -p "$TMP/tree/tools" "$TMP/tree/tests/kernels" "$TMP/build" "$TMP/bin"
cp "$ROOT/tools/test-kernels" "$TMP/tree/tools/"
cp "$ROOT/tests/slowness.sh" "$TMP/tree/tests/"
cat >"$TMP/tree/tools/kernels" <<-END
	#!/bin/bash
	printf '%s\n' /x/linux-image-one_1.deb /x/linux-image-two_1.deb
END
cat >"$TMP/tree/tools/on-kernel" <<-'END'
	#!/bin/bash
	kernel=${1##*-image-}
	shift
	KERNEL=${kernel%_*} exec "$@"
END
cat >"$TMP/tree/tests/kernels/run-here" <<-END
	#!/bin/bash
	dir=\$1
	shift
	kernel=\${KERNEL:-this}
	if [ -e "$TMP/hang" ]; then
		echo \$\$ >>"$TMP/hang"
		exec sleep 987
	fi
	[ \$# = 0 ] || ls "$TMP" >>"$TMP/there-again"
	echo "\$kernel" >"\$dir/kernel"
	[ \$# -gt 0 ] || set -- right once-wrong-here once-wrong-there once-failed-there wrong-there lost-there
	for name in "\$@"; do
		said=\$(head -n 1 "$TMP/said/\$kernel-\$name")
		# (what it says later is there for the next time)
		tail -n 1 "$TMP/said/\$kernel-\$name" >"$TMP/said/next-\$kernel-\$name"
		mv "$TMP/said/next-\$kernel-\$name" "$TMP/said/\$kernel-\$name"
		echo "ran on \$kernel" >"\$dir/\$name.log"
		echo 0 >"\$dir/\$name.status"
		echo 0 >"\$dir/\$name.seconds"
		case \$said in
		'exit 0') rm "\$dir/\$name.status" ;;
		'exit '*) echo "\${said#exit }" >"\$dir/\$name.status" ;;
		esac
		echo "\$said" >"\$dir/\$name.facts"
	done
END
for name in qemu-system-x86_64 busybox cpio xz; do
	echo '#!/bin/sh' >"$TMP/bin/$name"
done
chmod +x "$TMP/tree/tools"/* "$TMP/tree/tests/kernels/run-here" "$TMP/bin"/*

note "a test that was wrong once, on either side of the comparison, is unsteady"
status=0
PATH=$TMP/bin:$PATH "$TMP/tree/tools/test-kernels" "$TMP/build" "$TMP/result.json" >"$TMP/log" 2>&1 || status=$?
gojq -r 'select(.result != "OK") | "\(.name | sub("^kernel "; "")) \(.result)"' "$TMP/result.json" >"$TMP/results"
diff - "$TMP/results" <<-END || fail "results of the planted tests: $(cat "$TMP/log")"
	one: once-failed-there UNSTEADY
	one: once-wrong-here UNSTEADY
	one: once-wrong-there UNSTEADY
	two: lost-there FAIL
	two: wrong-there FAIL
END
assert_eq "$status" 1 "exit status with failures"
assert_eq "$(gojq -r .name "$TMP/result.json" | wc -l)" 18 "number of results"

# start_test_kernels: starts it; $kernels_job is its pid, $TMP/later.json has its results
start_test_kernels() {
	PATH=$TMP/bin:$PATH "$TMP/tree/tools/test-kernels" "$TMP/build" "$TMP/later.json" "$TMP/ended" "$TMP/quiet" \
		>"$TMP/log" 2>&1 &
	kernels_job=$!
}

# n_lines FILE N: FILE has N lines
n_lines() {
	[ "$(wc -l <"$1")" = "$2" ]
}

note "it runs again when other tests have ended"
: >"$TMP/later.json"
rm "$TMP/there-again"
start_test_kernels
expect_soon 20 test -e "$TMP/ended"
# (the tests of two kernels, which are right by now)
expect_soon 20 n_lines "$TMP/later.json" 12
: >"$TMP/quiet"
status=0
wait $kernels_job || status=$?
assert_eq "$status" 1 "exit status with failures"
assert_eq "$(grep -cx quiet "$TMP/there-again")" 2 "runs when others had ended"
assert_eq "$(grep -cx there-again "$TMP/there-again")" 2 "further runs"

note "SIGTERM ends it, and all that it has started"
: >"$TMP/hang"
start_test_kernels
expect_soon 20 n_lines "$TMP/hang" 3
kill $kernels_job
expect_soon 20 has_ended $kernels_job
while read -r pid; do
	expect_soon 5 has_ended "$pid"
done <"$TMP/hang"
