# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
mkdir directory
echo "this is no trace" >text
gzip -c "$T/small" >small.gz
for file in absent directory text small.gz "$T/empty" "$T/big-endian"; do
	kymo dump "$file"
	echo "exit $?"
done
kymo summary text || kymo check text
