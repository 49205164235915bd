# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Values that the format does not define: a state is kept, and data that cannot be copied is counted
# and reported.
word() { printf '%b' "$(printf '%016x' "$1" | sed 's/\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)/\\x\8\\x\7\\x\6\\x\5\\x\4\\x\3\\x\2\\x\1/')"; }
put() { for w; do word "$w"; done; }
{
	cat "$T/golden"
	put 0x7000000000000048 9000 1 2                  # a scheduling record of kind 7
	put 0x1000009000000048 9000 7 8                  # a switch, state 9
	put 0x0000000000100054 9000 7 7 0x000000000000001e # an instant, an argument of type 14
	put 0x0000000000000054 9000 7 7 1                # an instant, a word behind it
	put 0x0000000000070010                           # metadata of kind 7
} >unknown
say() {
	echo "-- $2"
	"$@" 2>&1 | grep -w omitted
}
say kymo cut --from 0 unknown cut
say kymo merge unknown "$T/small" merged
say kymo symbolize unknown symbolized
say kymo repair unknown repaired
head -c 32 "$T/golden" >key
say kymo redact --key key unknown redacted
for result in cut merged symbolized repaired redacted; do
	kymo dump "$result" | grep " (?) -> "
done
kymo cut --json --from 0 --force unknown cut | grep -v '"\(file_\)\?bytes"'
