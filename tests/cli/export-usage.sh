# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
cp "$T/small" a.fxt
kymo export
kymo export a.fxt
kymo export a.fxt b.fxt
kymo export a.fxt -o b
kymo export a.fxt -o -
# The help describes each format.
kymo export --help >help
kymo export a.fxt -o b 2>&1 | sed -n 's/.* one of: //p' | tr -d , | xargs -n 1 >formats
while read -r format; do
	grep -q "[ :;]$format: " help || echo "the help lacks $format"
done <formats
[ -s formats ] || echo "the formats are unknown"
rm help formats
kymo export a.fxt -o b --format jpeg
kymo export a.fxt -o b.fxt --compress
kymo export a.fxt -o b.fxt.gz --compress=zstd
kymo export a.fxt -o b.fxt.gz --compress=none
kymo export a.fxt -o b.fxt --compress=lzma
kymo export a.fxt --json -o - --format fxt
echo "exit $?"
kymo export a.fxt -o a.fxt
kymo export a.fxt -o a.fxt --force
kymo export none.fxt -o b.fxt
echo "exit $?"
ls
# How small it gets is up to the libraries.
export_sizeless() {
	kymo export "$@" 2>&1 |
		sed -E 's/: [0-9.]+ [KMi]*B, fxt compressed/: ... fxt compressed/; /(in|out)put_bytes/d'
}
# The option and the name of the file can agree.
export_sizeless a.fxt -o b.fxt.gz --compress=gzip
export_sizeless --json b.fxt.gz -o c --format fxt --compress
kymo export --compress=none --format=fxt c -o d && cmp a.fxt d
kymo export a.fxt -o - --format fxt --compress=snappy 2>/dev/null | export_sizeless --json - -o e.fxt
kymo export a.fxt -o b.fxt.gz
echo "exit $?"
export_sizeless a.fxt -o b.fxt.gz --force
