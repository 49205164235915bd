# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# texts FILE: the words of the page, without its elements, style and script
texts() {
	sed -n '/<body>/,/^<script>/p' "$1" | grep -v '^<svg\|^<script>' |
		sed 's/<svg.*<\/svg>//g; s/<[^>]*>/ /g; s/  */ /g; s/^ //; s/ $//' | grep .
}

# whole FILE: it is well-formed, has one script, and loads nothing
whole() {
	! command -v xmllint >/dev/null || xmllint --noout "$1"
	grep -c '<script' "$1"
	! grep -n ' src=\|url(\|@import\|https:' "$1"
}

cp "$G/profile.fxt" a.fxt
kymo report --title '<"hostile"> & more' a.fxt
whole a.fxt.html
texts a.fxt.html
grep -c '<svg class="f ' a.fxt.html
grep -o '<svg viewBox[^>]*>' a.fxt.html
# An existing page stays, and an archive is no page.
! kymo report a.fxt
! kymo report --force -o a.fxt a.fxt
cmp a.fxt "$G/profile.fxt"

# Losses come first.
kymo report -o - "$G/events.fxt" >losses.html || echo "$?"
whole losses.html
texts losses.html | sed -n '/^Calls$/,/^Archive/p'

# Waits and leaks.
kymo report --no-symbols -o waits.html "$T/small"
whole waits.html
texts waits.html | sed -n '/^The worst waits$/,/^Where CPU time/p'
make-profile b.fxt <"$L/demo"
kymo report --no-symbols -o leaks.html b.fxt
whole leaks.html
texts leaks.html | sed -n '/^Memory that was not freed$/,$p'

# From standard input, there is no name for the page.
! kymo report - <a.fxt
