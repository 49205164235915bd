# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo check --notes "$G/everything.fxt"
