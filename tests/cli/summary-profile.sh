# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo summary "$G/profile.fxt"
kymo summary "$G/profile-bare.fxt" --json | sed -n '/"profile"/,$p'
