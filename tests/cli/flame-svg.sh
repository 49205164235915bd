# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo flame "$G/profile.fxt" -o a.svg --title '<"hostile"> & more'
cat a.svg
# Names never become markup: the elements are ours, and so many as there are frames.
! command -v xmllint >/dev/null || xmllint --noout a.svg
grep -c '<svg class="f ' a.svg
grep -c '<script' a.svg
kymo flame "$G/profile.fxt" -o b.svg --off-cpu --inverted --min-percent 50
grep -v '^ \|^[a-z(.}]' b.svg | grep '^<svg class\|^<text'
kymo flame "$G/profile.fxt" -o c.svg --diff "$G/profile-bare.fxt" --json
grep '^<svg class\|^<text' c.svg
