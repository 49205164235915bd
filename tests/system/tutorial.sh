#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The commands of the tutorial, with the outputs on the page.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../pages.sh"
need_btf
need_command gcc flock redis-server redis-cli redis-benchmark taskset

# A write to a file in memory never waits for a disk.
HOME=$(mktemp -d "$KYMO_BUILD/tutorial.XXXXXX")
at_exit rm -rf "$HOME"
stop_server() {
	redis-cli -s "$HOME/tutorial/redis.sock" shutdown nosave >"$TMP/shutdown" 2>&1 || true
}
at_exit stop_server
[ "$(stat -f -c %T "$HOME")" != tmpfs ] || skip "the build directory is not on a disk"
page_programs
cd "$ROOT" || exit
page_run docs/TUTORIAL.md
assert_ge "$(find "$TMP/page" -name '*.command' | wc -l)" 20 "commands of the tutorial"
