#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tools/check-clang finds the warnings that a build by clang finds, also those that need the flow of
# a function, with the options of the build.

. "$(dirname "$0")/../lib.sh"
need_command clang gojq

mkdir -p "$TMP/build" "$TMP/base" "$TMP/tests"
cd "$TMP" || exit
echo 'int f(int a) { int x; x = a; return a; }' >base/unused-but-set.c
echo 'int f(int a) { int x; if (a) x = 1; return x; }' >base/sometimes-uninitialized.c
echo 'void f(long a) { __builtin_printf("%d", a); }' >base/format.c
echo 'int f(int a) { if (a) return 1; }' >base/return-type.c
echo 'int f(int a) { int b[3] = {0}; return a + b[5]; }' >base/array-bounds.c
echo 'int f(int a, unsigned b) { return a < b; }' >base/sign-compare.c
echo 'int f(int a) { return a; }' >base/right.c
echo 'int f(int a) { return a + VALUE; }' >base/options.c
cp base/format.c tests/of-a-test.c

# entry FILE: its command, as meson writes it
entry() {
	gojq -nc --arg file "../$1" '{ directory: ".", file: $file, output: "x.o", command:
		"ccache /usr/bin/x86_64-linux-gnu-gcc-12 -m64 -Ibase/x.p -I.. -Wall -Wextra \u0027-DVALUE=(1 + 1)\u0027 -MD -MQ x.o -MF x.o.d -o x.o -c \($file)" }'
}

# check FILE ...: checks a build of those
check() {
	for file in "$@"; do
		entry "$file"
	done | gojq -s . >build/compile_commands.json
	"$ROOT/tools/check-clang" build $compiled >said 2>&1
}

compiled=
for file in base/*.c; do
	warning=$(basename "$file" .c)
	case $warning in
	right | options) check "$file" || fail "$warning: $(cat said)" ;;
	*)
		! check "$file" || fail "it does not find $warning"
		assert_contains said "-Werror,-W$warning"
		;;
	esac
done
check base/right.c tests/of-a-test.c || fail "it checks tests: $(cat said)"
! check base/right.c base/format.c base/options.c || fail "it does not find one among others"

mkdir compiled
entry base/format.c | gojq -s . >compiled/compile_commands.json
compiled=compiled
check base/right.c base/format.c || fail "it checks sources that are compiled by clang anyway: $(cat said)"
! check base/format.c || fail "it checks nothing, and says so: $(cat said)"
assert_eq "$(ls build)" compile_commands.json "files in the build afterwards"
