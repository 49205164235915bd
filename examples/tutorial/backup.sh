#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# backup.sh: causes the failure of `till`, for docs/TUTORIAL.md. A second after the first sale, it
# locks the file of sales for half a second, and copies it.

rm -f sales
until [ -s sales ]; do
	sleep 0.1
done
sleep 1
flock sales sh -c 'cp sales sales.bak && sleep 0.5'
