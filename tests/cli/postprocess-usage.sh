# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo postprocess
kymo postprocess a b
kymo postprocess --sort weight "$R/small"
kymo postprocess --sort size-up "$R/small"
kymo postprocess --sort count "$R/small"
kymo postprocess --size 5:4 "$R/small"
kymo postprocess --size : "$R/small"
kymo postprocess --size many "$R/small"
kymo postprocess --index 1:2:3 "$R/small"
kymo postprocess --depth -1 "$R/small"
kymo postprocess --resource memory,,fd "$R/small"
kymo postprocess --resource 0x0 "$R/small"
kymo postprocess --context 0x100000000 "$R/small"
kymo postprocess --call-address 0x100 "$R/small"
kymo postprocess --call-address :1+1 "$R/small"
kymo postprocess --sysroot / "$R/small"
echo "exit $?"
kymo postprocess missing
kymo postprocess "$R/empty"
kymo postprocess "$R/no-header"
kymo postprocess -l "$T/small"
kymo postprocess .
kymo postprocess --include missing "$R/small"
echo x >list
kymo postprocess --exclude list "$R/small"
cp "$R/small" a
kymo postprocess a -o a
kymo postprocess a -o a --force
cmp a "$R/small"
gzip a
TMPDIR=missing kymo postprocess -l a.gz
echo "exit $?"
# Other verbs name the verb for such a file.
kymo dump "$R/small"
kymo summary "$R/small"
kymo flame "$R/small" -o x.svg
kymo check "$R/small"
echo "exit $?"
ls
