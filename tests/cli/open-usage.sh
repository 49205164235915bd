# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo open
kymo open a b
kymo open a --port 65536
kymo open a --port http
kymo open a --timeout soon
kymo open a --timeout 2d
kymo open a --no-browser --browser firefox
for origin in "" ui.perfetto.dev ftp://x https:// 'https://a b' 'https://a"b' 'https://a@b' 'https://a/?x' "https://a/'"; do
	kymo open a --origin "$origin"
done
echo "exit $?"
kymo open none.fxt
echo hello >hello
kymo open hello
kymo open .
kymo open - <hello
kymo open --no-browser - < <(cat "$T/small")
echo "exit $?"
