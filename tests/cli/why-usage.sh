# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo why
kymo why a b c
kymo why --worst 1001 a
kymo why --min soon a
kymo why --from 2 --to 1 a
kymo why a --between b
kymo why --whole --span f a
kymo why --between a b --span f c
kymo why --into o.fxt -
kymo why --force a
kymo why --into o.fxt "$T/small" worker >/dev/null
kymo why --into o.fxt "$T/small" worker >/dev/null
kymo why "$T/small" no-such-thread
echo "exit $?"
