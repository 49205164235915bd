# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2002 # a pipe is what is wanted
cat "$T/truncated" | kymo dump - | tail -n 1
exit "${PIPESTATUS[1]}"
