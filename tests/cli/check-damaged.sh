# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
for archive in truncated zeros foreign undefined bad-args bad-weights large-lie; do
	kymo check "$T/$archive"
	echo "exit $?"
done
exit 3
