#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Verbs that read for long show their progress on a terminal, and nowhere else.

. "$(dirname "$0")/../lib.sh"
need_command script
esc=$(printf '\033')
line='[0-9.]+ [KMG]?i?B of [0-9.]+ [MG]iB, [0-9]+%, [0-9.]+ [KMG]?i?B/s, [0-9]+ s left'
# (more is never needed: no machine reads this in half a second)
limit_bytes=$((2 << 30))

# on_terminal COMMAND: what a shell command prints to a terminal
on_terminal() {
	script -qec "$1" /dev/null </dev/null || :
}

# larger: doubles the archive
larger() {
	cat "$TMP/big.fxt" "$TMP/big.fxt" >"$TMP/bigger.fxt"
	mv "$TMP/bigger.fxt" "$TMP/big.fxt"
}

# shows_progress COMMAND: the line appears, at the latest with a large archive, and is erased
shows_progress() {
	while on_terminal "$1" >"$TMP/shown"; ! grep -aE "$line" "$TMP/shown" >/dev/null; do
		[ "$(stat -c %s "$TMP/big.fxt")" -lt $limit_bytes ] || fail "no progress of: $1"
		larger
	done
	# What follows the last progress is an erased line.
	tr '\r' '\n' <"$TMP/shown" | awk -v line="$line" '{ if ($0 ~ line) next_is = NR + 1
		if (NR == next_is) after = $0 } END { print after }' >"$TMP/after"
	assert_says "$TMP/after" "${esc}[K"
	! grep -aE "$line" "$TMP/after" >/dev/null || fail "the progress stays: $1"
}

cp "$ROOT/tests/golden/fxt/events.fxt" "$TMP/small.fxt"
cp "$TMP/small.fxt" "$TMP/big.fxt"
for _ in {1..10}; do
	larger
done

program=$(printf %q "$KYMO") dir=$(printf %q "$TMP")
for words in "repair --force $dir/big.fxt $dir/out.fxt" \
	"merge --force $dir/big.fxt $dir/small.fxt $dir/out.fxt" \
	"symbolize --force $dir/big.fxt $dir/out.fxt" \
	"export --force --format perfetto -o $dir/out.pftrace $dir/big.fxt" \
	"report --force $dir/big.fxt -o $dir/out.html" \
	"summary $dir/big.fxt" \
	"check $dir/big.fxt"; do
	note "$words"
	shows_progress "$program $words"
done

note "output that is printed while the archive is read is not mixed with it"
on_terminal "timeout $(limit 2) $program dump $dir/big.fxt" >"$TMP/shown"
! grep -a "$esc\[K" "$TMP/shown" >/dev/null || fail "the dump has a progress line"

note "never in a pipe"
on_terminal "$program repair --force $dir/big.fxt $dir/out.fxt | cat" >"$TMP/shown"
! grep -a "s left" "$TMP/shown" >/dev/null || fail "progress although standard output is a pipe"
"$KYMO" repair --force "$TMP/big.fxt" "$TMP/out.fxt" >"$TMP/shown" 2>&1 || :
! grep -a "s left" "$TMP/shown" >/dev/null || fail "progress without a terminal"
