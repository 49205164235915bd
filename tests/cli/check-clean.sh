# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo check "$T/small" && kymo check "$T/golden" && kymo check "$T/lost"
