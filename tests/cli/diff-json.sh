# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo diff --json "$T/small" "$T/golden"
kymo diff --json --top 1 --threads --by wait "$T/small" "$T/small" | grep -A 4 '"by"'
