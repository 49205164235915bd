#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# libkymo-provider.sh SANITIZERS: libkymo-provider as it is installed. The example of
# libkymo-provider(3) is built outside of the tree, with the flags of pkg-config, and runs without a
# recording. Only the functions of the header are exported. (tests/system/providers.sh records it.)

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../pages.sh"
need_command meson pkg-config c++ cc nm

build=$(cd "$(dirname "$KYMO")/.." && pwd)
DESTDIR=$TMP/root meson install -C "$build" --no-rebuild --quiet --tags libkymo-provider,devel >"$TMP/install" 2>&1 || {
	cat "$TMP/install" >&2
	fail "the library does not install"
}
pc=$(find "$TMP/root" -name libkymo-provider.pc)
[ -n "$pc" ] || fail "there is no libkymo-provider.pc"
prefix=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --variable=prefix libkymo-provider)
flags() {
	PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-variable=prefix="$TMP/root$prefix" "$@" libkymo-provider
}
libdir=$(flags --variable=libdir)
sanitize=()
[ "$1" = none ] || sanitize=("-fsanitize=$1")
export KYMO_PROVIDER_DIR=$TMP/run

cd "$TMP" || exit 1

sed -n 's/^\t\(kymo_[a-z0-9_]*\);$/\1/p' "$ROOT/provider/libkymo-provider.map" | sort >in-map
assert_ge "$(wc -l <in-map)" 10 "functions of the map"
nm -D --defined-only "$libdir/libkymo-provider.so" | sed -n 's/^[0-9a-f]* T \(kymo_[a-z_]*\)@@.*$/\1/p' | sort >in-shared
diff in-map in-shared >&2 || fail "the shared library does not export what the map has"
nm -g --defined-only "$libdir/libkymo-provider.a" | sed -n 's/^[0-9a-f]* [A-Z] //p' | sort >in-static
diff in-map in-static >&2 || fail "the static library does not export what the map has"

# ---- the example ----

page_example "$ROOT/docs/libkymo-provider.3" 1 >example.c
cp example.c example.cc
for standard in c99 gnu11; do
	# shellcheck disable=SC2046 # flags
	expect_exit 0 cc -std=$standard -Wall -Wextra -Werror "${sanitize[@]}" -o example example.c $(flags --cflags --libs)
done
LD_LIBRARY_PATH=$libdir expect_exit 0 ./example
assert_eq "$(<stdout)" 50050000 "the sum of the example"
# shellcheck disable=SC2046
expect_exit 0 c++ -std=c++11 -Wall -Wextra -Werror "${sanitize[@]}" -o example-cc example.cc $(flags --cflags --libs)
LD_LIBRARY_PATH=$libdir expect_exit 0 ./example-cc
assert_eq "$(<stdout)" 50050000 "the sum of the example in C++"

[ "$1" = none ] || exit 0
read -ra private <<<"$(flags --static --libs)"
expect_exit 0 cc -Wall -Werror -I"$(flags --variable=includedir)" -o static example.c "${private[@]/#-lkymo-provider/-l:libkymo-provider.a}"
expect_exit 0 ./static
assert_eq "$(<stdout)" 50050000 "the sum of the example, by the static library"
