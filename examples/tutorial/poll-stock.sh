#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# poll-stock.sh [SECONDS]: waits for a file, for docs/TUTORIAL.md. It checks for the file with
# programs that run for a millisecond each.

end=$(($(date +%s) + ${1:-60}))
while [ "$(date +%s)" -lt "$end" ] && [ "$(find . -name arrived | wc -l)" = 0 ]; do
	sleep 0.001
done
