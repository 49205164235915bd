# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Without options, a report is copied unchanged, whatever it contains. Oddities are reported.
for name in small compressed specification version-1 strange crlf nuls long-lines unsorted header-only; do
	echo "$name" >&2
	kymo postprocess "$R/$name" >a
	echo "exit $?"
	cmp "$R/$name" a
	kymo postprocess - <"$R/$name" >a 2>/dev/null
	cmp "$R/$name" a
	gzip -c "$R/$name" | kymo postprocess - 2>/dev/null | cmp "$R/$name" -
	kymo postprocess "$R/$name" -o b.gz 2>/dev/null
	gzip -dc b.gz | cmp "$R/$name" -
	rm b.gz
done
