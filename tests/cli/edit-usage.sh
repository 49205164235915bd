# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Refused command lines of repair, cut, merge and redact. No file is made.
try() {
	kymo "$@"
	echo "exit $?: $*"
}
try repair
try repair a
try repair a b c
try repair --nope a b
try cut a b
try cut --from 1 a
try cut --from 5 --to 3 a b
try cut --from 5 --to 5 a b
try cut --from 1 --to @5 a b
try cut --from x a b
try cut --to @x a b
try cut --to
try cut --cpu 3-1 a b
try cut --cpu 65536 a b
try cut --pid 0 a b
try cut --pid 5, a b
try merge a b
try merge - - out
try redact a
ls
