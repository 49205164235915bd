# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What an archive calls a process and an event is no command to a terminal, neither as ESC nor as U+009B, whichever verb shows it.
{
	printf '\20\0\4FxT\26\0'
	# process 77 and its thread 77, "evil" and U+009B, and twice the same as an event of theirs, an ESC in it
	printf '\67\0\1\10\200\0\0\0\115\0\0\0\0\0\0\0evil\302\2332J'
	for ts in 1 2; do
		printf '\124\0\0\0\0\0\10\200'
		printf '%b\0\0\0\0\0\0\0' "\\0$ts"
		printf '\115\0\0\0\0\0\0\0\115\0\0\0\0\0\0\0\302\2332J\0332Jx'
	done
} >controls
for verb in dump 'dump --json' summary 'summary --json' check 'check --json'; do
	# shellcheck disable=SC2086 # words
	kymo $verb controls >out 2>&1 || true
	if LC_ALL=C grep -q $'\302\233\|\033\|\177' out; then
		echo "$verb: commands to a terminal"
	fi
done
kymo dump controls
