# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo why --span '*' "$T/small"
echo "exit $?"
kymo why --no-symbols --span 'libc.so.6:ff' "$G/events.fxt"
kymo why --no-symbols --span 'libc.so.6:f' "$G/events.fxt"
kymo why --no-symbols --between 'half wya' 'half*' "$T/small"
kymo why --no-symbols --between 'half*' 'half way' "$T/small"
kymo why --no-symbols --json --between='half way' 'half way' "$T/small" worker | gojq -c '.instances, .worst[0].name'
