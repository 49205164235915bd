#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# libkymo.sh SANITIZERS: libkymo as it is installed. Programs are built outside of the tree, with the
# flags of pkg-config: the examples of libkymo(3), which give the same answers as the command. Only
# the functions of the header are exported.

. "$(dirname "$0")/../lib.sh"
need_command meson pkg-config c++ cc nm gojq

build=$(cd "$(dirname "$KYMO")/.." && pwd)
DESTDIR=$TMP/root meson install -C "$build" --no-rebuild --quiet --tags libkymo,devel >"$TMP/install" 2>&1 || {
	cat "$TMP/install" >&2
	fail "the library does not install"
}
pc=$(find "$TMP/root" -name libkymo.pc)
[ -n "$pc" ] || fail "there is no libkymo.pc"
# (a libkymo that is installed on this machine is not used)
prefix=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --variable=prefix libkymo)
flags() {
	PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-variable=prefix="$TMP/root$prefix" "$@" libkymo
}
libdir=$(flags --variable=libdir)
header=$(flags --variable=prefix)/include/libkymo/kymo.h
sanitize=()
[ "$1" = none ] || sanitize=("-fsanitize=$1")

# from FILE COMMAND ...: with FILE as standard input
from() {
	"${@:2}" <"$1"
}

cd "$TMP" || exit 1

# ---- the interface ----

sed -n 's/^[a-z].*[ *]\(kymo_[a-z0-9_]*\)(.*/\1/p' "$header" | sort >in-header
assert_ge "$(wc -l <in-header)" 80 "functions of the header"
sed -n 's/^\t\(kymo_[a-z0-9_]*\);$/\1/p' "$ROOT/libkymo/libkymo.map" | sort >in-map
diff in-header in-map >&2 || fail "the map does not have the functions of the header"
# (a newer function has a newer version)
nm -D --defined-only "$libdir/libkymo.so" | sed -n 's/^[0-9a-f]* T \(.*\)@@KYMO_[0-9.]*$/\1/p' | sort >in-shared
diff in-map in-shared >&2 || fail "the shared library does not export what the map has"
assert_eq "$(nm -D --defined-only "$libdir/libkymo.so" | grep -vc ' [TA] .*KYMO_')" 0 "other exported symbols"
nm -g --defined-only "$libdir/libkymo.a" | sed -n 's/^[0-9a-f]* [A-Z] //p' | sort >in-static
diff in-map in-static >&2 || fail "the static library does not export what the map has"
assert_eq "$(basename "$(readlink -f "$libdir/libkymo.so.0")")" "$(basename "$(readlink -f "$libdir/libkymo.so")")"

printf '#include <libkymo/kymo.h>\nint main() { return kymo_version()[0] != 48; }\n' >plain.cc
cp plain.cc plain.c
# shellcheck disable=SC2046 # flags
expect_exit 0 c++ -std=c++11 -pedantic -Wall -Wextra -Werror -c -o plain.o plain.cc $(flags --cflags)
# shellcheck disable=SC2046
expect_exit 0 cc -std=c99 -pedantic -Wall -Wextra -Werror -c -o plain.o plain.c $(flags --cflags)

# ---- the examples ----

awk '/^\.EX$/ { file = "example" ++n ".c"; next } /^\.EE$/ { file = "" } file != "" { print > file }' "$ROOT/docs/libkymo.3"
sed -i 's/\\e/\\/g; s/\\-/-/g' example*.c
for n in 1 2 3; do
	# shellcheck disable=SC2046
	expect_exit 0 cc -Wall -Wextra -Werror "${sanitize[@]}" -o example$n example$n.c $(flags --cflags --libs)
done
export LD_LIBRARY_PATH=$libdir

archive=$ROOT/tests/golden/fxt/events.fxt
"$KYMO" dump --json "$archive" >dumped || fail "kymo dump"
grep -E '^\{"record":"(event|context_switch|legacy_context_switch|thread_wakeup|log)"' dumped >expected
# (gojq rounds large numbers)
sed 's/.*"timestamp_ns":\([0-9]*\).*/\1/' expected >expected-times
gojq -r '"\(.category // "") \(.name // "")"' expected | sort >expected-names
assert_ge "$(wc -l <expected)" 80 "events"
for method in cat gzip zstd; do
	! command -v $method >/dev/null || {
		$method <"$archive" >packed
		expect_exit 0 from packed ./example1
		# (without the name of the thread, which can have spaces)
		awk '{ print $1 }' stdout >of-library
		diff expected-times of-library >&2 || fail "the library has other events ($method)"
	}
done
expect_exit 0 from "$archive" ./example1
grep -o '\(kymo\|process\|memory\) [a-z_]*$' stdout | sort | uniq -c >of-library
assert_ge "$(wc -l <of-library)" 10 "events by name"
grep -x '\(kymo\|process\|memory\) [a-z_]*' expected-names | uniq -c | diff - of-library >&2 || fail "events have other names"
expect_exit 1 ./example1
assert_says stderr "standard input: Bad message"

expect_exit 0 ./example2
cp stdout points.tdb
expect_exit 0 "$KYMO" query points.tdb '(> (v/value count) (v/size buf))'
assert_eq "$(<stdout)" "point 0 statement 0x11: count = 40, buf = 0x1008 (24 bytes)"
# ask EXPRESSION: with the library and with the command
ask() {
	expect_exit 0 "$KYMO" query --json --var any points.tdb "$1"
	gojq -r '(.earlier.variables // {}) as $earlier | "\(.point)\(.variables + $earlier | to_entries |
		map(" \(.key)=\(.value.name):\(.value.value)") | join(""))"' stdout >by-command
	expect_exit 0 from points.tdb ./example3 "$1"
	diff by-command stdout >&2 || fail "the library answers '$1' otherwise"
}
ask '(> (v/value any) 39)'
assert_eq "$(wc -l <stdout)" 2 "results"
ask '(and (= (v/value count) 40) (< (v/size any) 25))'
assert_eq "$(<stdout)" "0 any=buf:4104 count=count:40"
ask '(> (v/value any) 99999)'
assert_empty stdout
expect_exit 1 from points.tdb ./example3 '(> 1'
assert_says stderr ", at byte "

# ---- the static library ----

[ "$1" = none ] || exit 0
# Its names do not collide with the program's.
printf 'int table_get(void);\nint table_get(void) { return 1; }\nint outbuf_append = 1;\n' >names.c
read -ra private <<<"$(flags --static --libs)"
expect_exit 0 cc -Wall -Werror -I"$(dirname "$(dirname "$header")")" -o static example1.c names.c "${private[@]/#-lkymo/-l:libkymo.a}"
unset LD_LIBRARY_PATH
expect_exit 0 from "$archive" ./static
assert_eq "$(wc -l <stdout)" "$(wc -l <expected)" "events, by the static library"
