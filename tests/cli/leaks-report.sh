# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
make-profile a.fxt <"$L/demo"
kymo leaks a.fxt
echo "exit $?"
echo --- a pipe
kymo leaks - --top 1 <a.fxt | tail -n 9
echo --- each event
make-profile b.fxt <"$L/log"
kymo leaks b.fxt --no-symbols
