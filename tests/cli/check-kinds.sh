# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One kind is explained in JSON as --list has it.
kymo check --list --json | grep '"id":"damage"' >listed
kymo check --explain damage --json >explained
cmp listed explained && grep -o '"severity":"[a-z]*"' explained
kymo check --explain nothing --json
echo "exit $?"
kymo check --list --explain damage
echo "exit $?"
