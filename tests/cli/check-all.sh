# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo check --all --notes "$T/bad-args"
kymo check --all --json "$T/undefined"
kymo check - <"$T/undefined"
kymo check --strict "$T/cut-off" >/dev/null
echo "strict: exit $?"
kymo check "$T/cut-off" >/dev/null
echo "not strict: exit $?"
kymo check "$T/empty"
