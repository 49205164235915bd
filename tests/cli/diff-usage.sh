# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo diff
kymo diff "$T/small"
kymo diff a b c
kymo diff - -
kymo diff --by size a b
kymo diff --top -1 a b
kymo diff --threads=3 a b
echo "exit $?"
