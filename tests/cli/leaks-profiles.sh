# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
make-profile a.fxt <"$L/demo"
kymo leaks a.fxt --folded - --resource memory
kymo leaks a.fxt --folded out.folded --pprof out.pb.gz >/dev/null
cat out.folded
gzip -dc out.pb.gz | strings -n 3 | sort
kymo leaks a.fxt --folded out.folded >/dev/null
echo "exit $?"
kymo leaks a.fxt --folded out.folded --force >/dev/null
echo "exit $?"
kymo leaks a.fxt --folded a.fxt --force >/dev/null
echo "exit $?"
# It has the blocks of all processes, not only of the first one.
make-profile b.fxt <"$L/limits"
kymo leaks b.fxt --folded - 2>/dev/null | awk '{ sum += $NF } END { print sum }'
kymo leaks b.fxt --json 2>/dev/null | gojq '[.processes[].leaks[].bytes] | add'
