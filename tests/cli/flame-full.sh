# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks with as many calls as a recording contains begin with a frame that says so, in each format.
deep() { # N: the addresses of N calls
	printf ' %x' $(seq 4096 $((4095 + $1)))
}
{
	echo 'start .'
	echo 'task 100 deep'
	echo 'at 10'
	echo "sample 100$(deep 127)"
	echo 'at 20'
	echo "sample 100$(deep 127)"
	echo 'at 30'
	echo "sample 100$(deep 126)"
} | "$MAKE_PROFILE" deep.fxt
kymo flame deep.fxt --format folded -o - | sed -E 's/(;\[unknown\]){126,127} / ... /'
kymo flame deep.fxt -o deep.svg
grep -c 'cut: 127 frames' deep.svg
kymo flame deep.fxt -o deep.pb.gz 2>/dev/null
gzip -dc deep.pb.gz | grep -ac 'cut: 127 frames'
kymo flame deep.fxt -o deep.json 2>/dev/null
grep -c 'cut: 127 frames' deep.json
kymo flame deep.fxt --json --force -o deep.svg | grep -E '"(full|cut)_stacks"'
kymo flame deep.fxt --thread 9 -o none.svg
