#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Colour on a terminal, and nowhere else.

. "$(dirname "$0")/../lib.sh"
need_command script
G=$ROOT/tests/golden/fxt
esc=$(printf '\033')

# on_terminal VARIABLE=VALUE ... -- WORD ...: what kymo WORD prints to one
on_terminal() {
	local variables=()

	while [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	shift
	env -u NO_COLOR TERM=xterm "${variables[@]}" script -qec "$(printf '%q ' "$KYMO" "$@")" /dev/null </dev/null || :
}

for words in "check $G/profile.fxt" "summary --no-symbols $G/profile.fxt"; do
	read -ra words <<<"$words"
	on_terminal -- "${words[@]}" >"$TMP/shown"
	grep -q "$esc\[" "$TMP/shown" || fail "kymo ${words[0]} has no colour on a terminal"
	for variables in NO_COLOR=1 TERM=dumb; do
		on_terminal $variables -- "${words[@]}" >"$TMP/plain"
		! grep -q "$esc" "$TMP/plain" || fail "kymo ${words[0]} has colour with $variables"
		sed "s/$esc\[[0-9;]*m//g" "$TMP/shown" | cmp - "$TMP/plain"
	done
	TERM=xterm "$KYMO" "${words[@]}" | cat >"$TMP/piped"
	[ -s "$TMP/piped" ] || fail "kymo ${words[0]} prints nothing to a pipe"
	! grep -q "$esc" "$TMP/piped" || fail "kymo ${words[0]} has colour in a pipe"
done
