# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A recording that was cut off in the middle of a record gets its end.
kymo repair "$T/truncated" out 2>/dev/null
kymo dump out | grep -v '  string '
