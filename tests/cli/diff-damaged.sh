# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Damage of either archive is reported; the readable parts are compared.
kymo diff "$T/small" "$T/bad-args" | sed -n 1,5p
echo "exit ${PIPESTATUS[0]}"
kymo diff "$T/lost" "$T/cut-off" | sed -n 1,5p
echo "exit ${PIPESTATUS[0]}"
kymo diff "$T/zeros" "$T/small" >/dev/null
echo "exit $?"
kymo diff "$T/small" "$T/empty"
echo "exit $?"
kymo diff none "$T/small"
echo "exit $?"
