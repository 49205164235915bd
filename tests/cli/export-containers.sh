# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# From every container to every other: the bytes of the archive do not change.
cp "$G/everything.fxt" all.fxt
for from in fxt fxt.zst fxt.sz fxt.gz fxt.cols; do
	[ -e all.$from ] || kymo export all.fxt -o all.$from 2>/dev/null
	for to in fxt fxt.zst fxt.sz fxt.gz fxt.cols; do
		kymo export --format fxt all.$from -o "$from-$to.$to" 2>/dev/null &&
			kymo export "$from-$to.$to" --format fxt -o - 2>/dev/null | cmp - all.fxt &&
			echo "$from to $to"
	done
done
stat -c '%a' fxt-fxt.gz.fxt.gz
gzip -dc all.fxt.gz | cmp - all.fxt
