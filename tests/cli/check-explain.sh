# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo check --list
kymo check --explain wake-running
kymo check --list --json | head -n 1
kymo check --explain "$T"
echo "exit $?"
kymo check --list "$T/small"
