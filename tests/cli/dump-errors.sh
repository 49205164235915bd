# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
mkdir directory
echo "this is no trace" >text
printf 'attention: no trace' >attention
gzip -c text >text.gz
head -c 12 text.gz >cut.gz
printf '\3757zXZ\0' >small.xz
for file in absent directory text attention text.gz cut.gz small.xz "$T/empty"; do
	kymo dump "$file"
	echo "exit $?"
done
kymo summary text || kymo check text
