# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Of two recordings, and of one with itself, where nothing is different.
kymo diff "$T/small" "$T/golden"
for by in switches latency p99.9 wait; do
	echo
	kymo diff --by $by -n 2 - "$G/events.fxt" <"$T/small" | sed -n '/^By/,$p'
done
echo
kymo diff --threads "$T/small" "$T/golden" | sed -n '/^By/,$p'
echo
kymo diff "$T/small" "$T/../unpack/small.zst"
