# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
for name in demo limits log later; do
	make-profile a.fxt <"$L/$name"
	kymo check --all a.fxt
done
