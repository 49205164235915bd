# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
make-profile a.fxt <"$L/demo"
cp "$T/small" none.fxt
kymo leaks
kymo leaks --
kymo leaks a.fxt none.fxt
kymo leaks a.fxt -d 5
kymo leaks a.fxt --direct
kymo leaks a.fxt -e memory
kymo leaks a.fxt -o b.fxt
kymo leaks -p 1 -o -
kymo leaks -p 1 -- true
kymo leaks -e sched -p 1
kymo leaks -p x
kymo leaks a.fxt --top x
kymo leaks a.fxt --resource memory,x
kymo leaks a.fxt --verdict lost,x
kymo leaks a.fxt --min-bytes x
kymo leaks a.fxt --min-blocks x
kymo leaks a.fxt --min-age x
kymo leaks a.fxt --fail-over x
kymo leaks a.fxt --json --folded -
kymo leaks - --diff - <a.fxt
echo "exit $?"
kymo leaks none.fxt
kymo leaks a.fxt --context nobody
kymo leaks a.fxt --diff none.fxt
kymo leaks missing.fxt
echo "exit $?"
# A truncated archive is shown, and reported.
head -c -1000 a.fxt | kymo leaks - --no-symbols
echo "exit $?"
