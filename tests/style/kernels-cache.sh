#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tools/kernels without a mirror: those in the cache are good enough, and without any it says so.

. "$(dirname "$0")/../lib.sh"
need_command apt-get
[ -r /usr/share/keyrings/debian-archive-keyring.gpg ] || skip "there is no keyring of Debian's"
export XDG_CACHE_HOME=$TMP KYMO_DEBIAN_MIRROR=http://127.0.0.1:9/debian

expect_exit 77 "$ROOT/tools/kernels"
assert_line "$TMP/stderr" 'kernels: no Debian mirror gives them' "the message with nothing"
assert_empty "$TMP/stdout" "kernels that are not there"

mkdir -p "$TMP/kymo/kernels"
touch "$TMP/kymo/kernels/linux-image-6.1.0-1-amd64_6.1.1_amd64.deb"
expect_exit 77 "$ROOT/tools/kernels"
touch "$TMP/kymo/kernels/linux-image-6.12.1-amd64_6.12.1_amd64.deb"
expect_exit 0 "$ROOT/tools/kernels"
assert_says "$TMP/stderr" 'no Debian mirror gives newer ones' "the message with old ones"
assert_eq "$(wc -l <"$TMP/stdout")" 2 "kernels"
expect_exit 0 "$ROOT/tools/kernels" --install
assert_empty "$TMP/stdout" "the output of --install"

# Of today: nobody is asked.
touch "$TMP/kymo/kernels/asked"
expect_exit 0 "$ROOT/tools/kernels"
assert_empty "$TMP/stderr" "complaints about a mirror that is not asked"
