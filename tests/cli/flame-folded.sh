# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
folded() {
	echo "-- $*"
	kymo flame --format folded -o - "$G/profile.fxt" "$@"
}
folded
folded --off-cpu
folded --both --pid 100
folded --inverted --process app
folded --process 'a*' --off-cpu --from 30ms --to @1076000000 || true
folded --off-cpu --from 30ms --to 76ms
folded --thread 101,300 --cpu 1
folded --diff "$G/profile-bare.fxt" --cpu 0-1 --pid 300
# Without names: as bare as it was recorded.
kymo flame "$G/profile-bare.fxt" -o a.folded && cat a.folded
kymo flame "$G/profile-bare.fxt" -o a.folded || echo "exit $?"
kymo flame --force --json "$G/profile-bare.fxt" -o a.folded --both
# The sum is that of the samples in the archive.
kymo flame --format folded -o - "$G/profile.fxt" 2>/dev/null | awk '{ n += $NF } END { print n }'
kymo dump --json "$G/profile.fxt" | grep -c '"record":"backtrace"'
