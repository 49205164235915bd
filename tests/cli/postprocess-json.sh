# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo postprocess --json "$R/small"
kymo postprocess --json -lc "$R/compressed"
