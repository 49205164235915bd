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
