# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The limits of a recording are reported.
make-profile a.fxt <"$L/limits"
kymo leaks a.fxt
echo "exit $?"
kymo leaks a.fxt --json 2>/dev/null | gojq -c '.lost_events, (.processes[] | del(.leaks))'
kymo leaks a.fxt -p 200 --json 2>/dev/null | gojq -c '[.processes[].pid]'
kymo leaks a.fxt -p 4711
