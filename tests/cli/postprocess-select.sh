# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Indices of the calls that are shown.
calls() {
	echo "$*: $(kymo postprocess "$@" "$R/small" 2>&1 | sed -n 's/^\([0-9]*\)\. .*/\1/p' | paste -sd' ')"
}
calls --resource fd,segment
calls -R 0x2
calls --context 'first context'
calls -C 0x1
calls -C 0
calls --size 1K:
calls --size :100
calls --size 3000000000
calls --index 3:5
calls --index 8:
printf '9\n1\n\n4\n' >list
calls --include list
calls --exclude list
calls --call-address libc.so.6:0x100+1
calls --call-address 400300+1
calls --sort size
calls --sort size-asc
calls --sort index-desc
calls --sort time-desc
kymo postprocess --depth 1 -c --sort count "$R/small" | tail -n +12
kymo postprocess --context nobody "$R/small" | grep -c '^[0-9]' || :
