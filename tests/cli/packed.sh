# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Packed archives, whole and cut off, from files and from pipes, whatever they are called.
for method in sz zst gz; do
	cp "$T/../unpack/small.$method" packed
	kymo dump packed | cmp - <(kymo dump "$T/small") && echo "same dump"
	kymo check - <packed
	head -c -5 packed >cut
	kymo check cut
	echo "exit $?"
	kymo summary cut >/dev/null
	echo "exit $?"
done
kymo check --json cut
