# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two parts become the whole again, in either order.
kymo cut --to 300us "$T/small" first 2>/dev/null
kymo cut --from 300us "$T/small" second 2>/dev/null
kymo merge second first out 2>/dev/null
kymo merge first second again 2>/dev/null
for what in "$T/small" out again; do
	kymo summary --json "$what" |
		grep -E '"(cpu_ns|busy_ns|idle_ns|pid|name|duration_ns)"' >"sum-$(basename "$what")"
done
diff sum-small sum-out && diff sum-small sum-again && echo "the same"
