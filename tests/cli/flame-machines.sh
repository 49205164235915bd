# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# In an archive that is merged from archives of two machines, kernel addresses in the stacks belong
# to the kernel of their machine, even if its address is unknown.
machine() {
	{
		echo "start $1"
		echo "task 2 kthreadd"
		[ "$2" = - ] || echo "map 2 $2 20000000 0 $(printf "$1%.0s" {1..10}) [kernel.kallsyms]"
		echo "task 100 work"
		echo "map 100 1000 1000 0 - /usr/bin/work"
		echo "at 10"
		echo "sample 100 ffffffff92000010 1010"
	} | "$MAKE_PROFILE" "$3"
}
machine aa ffffffff81000000 a.fxt
machine bb ffffffff92000000 b.fxt
machine cc - c.fxt
kymo merge a.fxt b.fxt c.fxt merged.fxt 2>/dev/null
kymo check merged.fxt
kymo flame merged.fxt --format folded -o - 2>/dev/null
# The kernel's mappings belong to every process of their machine.
for pid in 100 1073741924 2147483748; do
	kymo cut --pid "$pid" merged.fxt "$pid.fxt" 2>/dev/null
	kymo flame "$pid.fxt" --format folded -o - 2>/dev/null
done
