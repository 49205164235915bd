#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hardening.sh fortified|plain PROGRAM ...: each was built with what Debian builds its packages
# with.

. "$(dirname "$0")/../lib.sh"
need_command readelf objdump

fortified=$1
shift

[ $# -gt 0 ] || fail "no program is named"

# has FILE WHAT PATTERN: a line of FILE matches
has() {
	grep -qE -e "$3" "$1" || fail "$program: $2: nothing matches '$3' in what $(basename "$1") says"
}

for program; do
	readelf -hldW --dyn-syms "$program" >"$TMP/readelf"
	has "$TMP/readelf" "position-independent" '^ *Type: +DYN '
	has "$TMP/readelf" "position-independent" '\(FLAGS_1\).* PIE'
	has "$TMP/readelf" "references are resolved at the start" '\(FLAGS\).*BIND_NOW|\(BIND_NOW\)|\(FLAGS_1\).* NOW'
	has "$TMP/readelf" "and read-only then" '^ *GNU_RELRO '
	has "$TMP/readelf" "the stack cannot be executed" '^ *GNU_STACK .* RW '
	has "$TMP/readelf" "stack protector" ' __stack_chk_fail(@|$)'
	if [ "$fortified" = fortified ]; then
		n=$(grep -cE ' __[a-z]+_chk(@|$)' "$TMP/readelf" || true)
		[ "$n" -ge 5 ] || fail "$program: calls $n fortified functions"
	fi
	# A program of the x86 begins each function that is called through pointers so; that of
	# others has nothing like it here.
	[ "$(uname -m)" = x86_64 ] || continue
	objdump -d --no-show-raw-insn "$program" >"$TMP/objdump"
	n=$(grep -c 'endbr64' "$TMP/objdump" || true)
	[ "$n" -ge 100 ] || fail "$program: $n places for indirect jumps (CET): not built with -fcf-protection"
	# The linker says so of the whole only if the C library's part of it has them, too.
	if readelf -n "$(cc -print-file-name=crt1.o)" 2>/dev/null | grep IBT >/dev/null; then
		readelf -n "$program" >"$TMP/notes"
		has "$TMP/notes" "CET" 'x86 feature:.*IBT.*SHSTK'
	fi
	note "$program: hardened"
done
