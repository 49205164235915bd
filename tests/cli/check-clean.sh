# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --strict: without a warning, too (everything.fxt has an argument of each type, and two of one
# name).
kymo check "$G/everything.fxt" && kymo check --strict "$G/empty-session.fxt"
