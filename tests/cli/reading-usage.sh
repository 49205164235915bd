# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
for verb in summary dump check; do
	kymo $verb
	kymo $verb a b
	kymo $verb --nonsense a
	kymo $verb -q a
	echo "exit $?"
done
kymo summary -n many "$T/small"
echo "exit $?"
kymo summary --threads
echo "exit $?"
