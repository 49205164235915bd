# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo check "$T/cut-off"
status=$?
# Of merged recordings, one has its end.
kymo merge "$T/small" "$T/cut-off" merged 2>/dev/null
kymo check merged | tail -n 2
[ "${PIPESTATUS[0]}" = 3 ] || echo "the merged archive is complete"
exit $status
