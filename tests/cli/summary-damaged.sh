# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo summary -n 1 "$T/zeros"
