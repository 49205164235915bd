# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An archive from another machine whose programs do not exist here. (Only recorded files are used.)
# Names in the archive stay, and addresses without names are reported.
mkdir empty
kymo symbolize --sysroot empty "$G/profile-bare.fxt" bare.fxt 2>said
grep -v '^kymo symbolize: ' said
kymo symbolize --sysroot empty "$G/profile.fxt" a.fxt 2>said
grep -v '^kymo symbolize: ' said
kymo symbolize --sysroot empty a.fxt - 2>said | kymo symbolize --sysroot empty --json - b.fxt.zst >json 2>/dev/null
grep -E 'backtraces|addresses|named|known' json | grep -v '      '
kymo check a.fxt
kymo check b.fxt.zst
# Nothing but Perfetto's packets and the names of fxt-names.h is another way round.
for i in "$G/profile.fxt" a.fxt b.fxt.zst; do
	kymo flame "$i" --no-symbols -o - --format folded 2>/dev/null | cksum
	kymo dump "$i" | grep profile:frame | cksum
done
# A part of one has the names, too.
kymo cut --from 50ms a.fxt part.fxt 2>/dev/null
kymo flame part.fxt --no-symbols -o - --format folded 2>/dev/null
# Damage is reported.
head -c -700 "$G/profile.fxt" >cut-off.fxt
kymo symbolize --sysroot empty cut-off.fxt c.fxt
echo "exit $?"
kymo check c.fxt
echo "exit $?"
