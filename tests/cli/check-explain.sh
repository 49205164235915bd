# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo check --list
kymo check --explain wake-running
kymo check --list --json | sed -n 1p
kymo check --explain "$T"
echo "exit $?"
kymo check --list "$T/small"
