# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo flame "$G/profile.fxt" -o a.json
cat a.json
kymo flame "$G/profile.fxt" -o b.json --both --pid 100 --title 'a "title"'
cat b.json
