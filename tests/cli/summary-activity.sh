# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo summary -n 0 "$G/events.fxt"
kymo summary --json "$G/events.fxt" >json || [ $? = 3 ]
sed -n '/"activity"/,$p' json
