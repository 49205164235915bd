# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Data after damage is read: in either byte order, without the begin of the archive, and after
# damage of the container.
kymo dump "$T/big-endian" | cmp - <(kymo dump "$T/small") && echo "same dump"
for archive in damaged damaged-big-endian damaged-everything lost-start; do
	kymo check "$T/$archive"
	echo "exit $?"
done
kymo dump "$T/lost-start" 2>/dev/null | cmp - <(kymo dump "$T/small" | tail -n +4) && echo "same dump"
# Packed: bytes are wrong where the second of three pieces begins; its place is that in the file.
for piece in sz:907 zst:908 gz:468; do
	packed=$T/../unpack/small.${piece%:*}
	begin=${piece#*:}
	{
		head -c "$begin" "$packed"
		printf '\377\377\377\377'
		tail -c +$((begin + 5)) "$packed"
	} >damaged
	kymo check - <damaged
	echo "exit $?"
	kymo summary damaged >/dev/null
done
