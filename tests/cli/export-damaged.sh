# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Damaged archives are exported unchanged. Of damaged containers, the part that can be decompressed
# is exported.
for name in bad-args cut-off large-lie truncated zeros; do
	kymo export "$T/$name" -o $name.fxt.gz 2>/dev/null
	echo "exit $?"
	gzip -dc $name.fxt.gz | cmp - "$T/$name" && echo "same bytes"
done
for method in sz zst gz; do
	head -c -5 "$T/../unpack/small.$method" >short
	kymo export short -o short-$method.fxt
	echo "exit $?"
	cmp -n "$(stat -c %s short-$method.fxt)" short-$method.fxt "$T/small" && echo "the beginning"
done
kymo export --json - -o short-json.fxt <short
echo "exit $?"
head -c 3 "$T/../unpack/small.gz" >nothing
kymo export nothing -o nothing.fxt
echo "exit $?"
printf 'this is no trace' >alien
kymo export alien -o alien.fxt
echo "exit $?"
# No output of these remains.
ls nothing.fxt alien.fxt 2>&1
