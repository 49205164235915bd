# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo postprocess --leaks "$R/small"
kymo postprocess -lc "$R/small" | tail -n +12
echo --- version 1
kymo postprocess -l "$R/version-1"
echo --- strange
kymo postprocess -l "$R/strange" 2>/dev/null
echo "exit $?"
echo --- pipes and files
kymo postprocess -l - <"$R/small" 2>/dev/null >a
kymo postprocess -l "$R/small" -o b 2>/dev/null
gzip -c "$R/small" >small.gz
kymo postprocess -l small.gz >c 2>/dev/null
cmp a b
cmp a c
ls
