# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
cp "$T/small" none.fxt
cp "$G/profile.fxt" a.fxt
kymo flame
kymo flame - <a.fxt
kymo flame a.fxt --format png
kymo flame a.fxt b.fxt -o x.svg
kymo flame a.fxt -o -
kymo flame a.fxt -o x.png
kymo flame a.fxt -o x --format png
kymo flame a.fxt -o .svg
kymo flame a.fxt -o x.svg --pid 0
kymo flame a.fxt -o x.svg --thread a
kymo flame a.fxt -o x.svg --cpu 3-2
kymo flame a.fxt -o x.svg --from 2 --to 1
kymo flame a.fxt -o x.svg --min-percent 101
kymo flame a.fxt -o x.svg --min-percent nan
kymo flame a.fxt -o x.folded --min-percent 1
kymo flame a.fxt -o x.pb.gz --diff a.fxt
kymo flame a.fxt -o x.json --inverted
kymo flame - -o x.svg --diff - <a.fxt
echo "exit $?"
kymo flame none.fxt -o x.svg
kymo flame a.fxt -o x.svg --process nobody
kymo flame a.fxt -o x.svg --diff none.fxt
kymo flame missing.fxt -o x.svg
kymo flame a.fxt -o a.fxt --format svg --force
cp a.fxt b.fxt
kymo flame a.fxt --diff b.fxt -o b.fxt --format svg --force
cmp a.fxt b.fxt
kymo flame a.fxt -o missing/x.svg
echo "exit $?"
ls
# A truncated archive is shown, and reported.
head -c -1000 a.fxt | kymo flame - -o x.folded --pid 100
echo "exit $?"
cat x.folded
# Without a name, the output is written next to the archive, and does not replace a file.
mkdir d
cp a.fxt d/
kymo flame d/a.fxt
kymo flame d/a.fxt
echo "exit $?"
kymo flame d/a.fxt --force
kymo flame d/a.fxt --format folded
kymo flame d/a.fxt --format pprof
ls d
cmp a.fxt d/a.fxt
