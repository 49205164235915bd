# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --strict: without a warning, too.
kymo check --strict "$G/everything.fxt" && kymo check --strict "$G/empty-session.fxt"
