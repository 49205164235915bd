#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The README's installation from source, as on a system that has what `tools/setup` installs and
# nothing else: its commands are taken from the README, in a copy of the tree, with pkg-config files
# of those packages only. What is built is looked at elsewhere; here nothing is compiled.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../pages.sh"
need_command meson ninja git dpkg pkg-config

# The packages of `tools/setup`.
mapfile -t packages < <(sed -n '/^build=(/,/^)/p' "$ROOT/tools/setup" | sed '1d;$d' | tr -s '\t ' '\n' | grep .)
assert_ge ${#packages[@]} 15 "packages of tools/setup"
mkdir "$TMP/pc" "$TMP/tree"
for package in "${packages[@]}"; do
	dpkg -L "$package" 2>/dev/null | grep '\.pc$' || :
done >"$TMP/files"
[ -s "$TMP/files" ] || skip "the packages of tools/setup are not Debian's here"
while read -r file; do
	ln -sf "$file" "$TMP/pc/"
done <"$TMP/files"
# (what those need in their turn comes with the packages that they depend on)
for file in /usr/lib/*/pkgconfig/*.pc /usr/share/pkgconfig/*.pc; do
	case ${file##*/} in
	cmocka.pc) ;;
	*) [ -e "$TMP/pc/${file##*/}" ] || ln -s "$file" "$TMP/pc/" ;;
	esac
done
(cd "$ROOT" && git ls-files -co --exclude-standard -z | xargs -0 cp -a --parents -t "$TMP/tree")
cd "$TMP/tree" || exit
export PKG_CONFIG_LIBDIR=$TMP/pc
# (nor does cmake find it)
mkdir "$TMP/bin"
printf '#!/bin/sh\nexit 1\n' >"$TMP/bin/cmake"
chmod 755 "$TMP/bin/cmake"
PATH=$TMP/bin:$PATH

setup=$(page_commands README.md '^## Install it' '^## ' | sed -n 's/^\(meson setup [^&]*[^& ]\) *&&.*/\1/p')
[ "$setup" ] || fail "the README does not say how to set up a build"
note "$setup"
# shellcheck disable=SC2086 # the words of the README
expect_exit 0 $setup
grep -q cmocka "$TMP/stdout" || fail "nobody looked for cmocka"
grep -q "install -C build" README.md || fail "the README does not say how to install"
expect_exit 0 meson introspect build --targets
! grep -q '"test-' "$TMP/stdout" || fail "tests are built without cmocka"
grep -q '"kymod"' "$TMP/stdout" || fail "the daemon is not built"
# A build that requires them reports the missing ones.
expect_exit 1 meson setup other -Dtests=enabled
assert_says "$TMP/stdout" 'cmocka' "the message without cmocka"
