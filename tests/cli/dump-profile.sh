# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo dump "$G/profile.fxt" | grep -w 'profile\|module\|mmap\|backtrace\|perfetto_samples' |
	grep -v '"work"\|"main"'
kymo dump --json "$G/profile.fxt" | grep '"offcpu"\|"record":"backtrace"' | sed -n 1,3p
