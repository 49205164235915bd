#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check-options-catches.sh LIST-OPTIONS-MADE-UP: an option that is in the table only is missed
# wherever it is to be written down.

set -euo pipefail

expected="docs/kymo.1: lacks --made-up
docs/kymo.conf.5: lacks MadeUp= of [Collection]
units/org.kymo.Trace1.xml: lacks the option made_up_ns, t"
status=0
said=$("$(dirname "$0")/check-options" "$1") || status=$?
if [ "$status" != 1 ] || [ "$said" != "$expected" ]; then
	echo "check-options exited with $status and said:"
	echo "$said"
	exit 1
fi
