# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo why --no-symbols "$T/small"
kymo why --no-symbols --whole --worst 2 --json "$T/small" | gojq -c 'keys, (.worst[] | .verdict.text)'
