# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Compressed archives, complete and truncated, from files and from pipes, with any names.
for method in sz zst gz; do
	cp "$T/../unpack/small.$method" packed
	kymo dump packed | cmp - <(kymo dump "$T/small") && echo "same dump"
	kymo check - <packed
	head -c -5 packed >short
	kymo check short
	echo "exit $?"
	kymo summary short >/dev/null
	echo "exit $?"
done
kymo check --json short
