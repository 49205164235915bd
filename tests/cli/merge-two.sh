# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two parts become the whole again, in either order.
kymo cut --to 300us "$T/small" first 2>/dev/null
kymo cut --from 300us "$T/small" second 2>/dev/null
kymo merge second first out 2>/dev/null
kymo merge first second again 2>/dev/null
for what in "$T/small" out again; do
	kymo summary --json "$what" |
		grep -E '"(cpu_ns|busy_ns|idle_ns|pid|name|duration_ns)"' >"sum-$(basename "$what")"
done
diff sum-small sum-out && diff sum-small sum-again && echo "the same"

# All records are there again, once, except those that a cut replaces.
make-profile leaks.fxt <"$L/demo"
make-profile log.fxt <"$L/log"
records() {
	kymo dump "$1" | grep -E '^ *[0-9]+\.[0-9]+  ' | grep -vE 'kymo:(session_stop|clock|part) ' | sort
}
while read -r file at; do
	kymo cut --force --to "$at" "$file" first 2>/dev/null
	kymo cut --force --from "$at" "$file" second 2>/dev/null
	kymo merge --force first second out 2>/dev/null
	echo "$(basename "$file") cut at $at"
	diff <(records "$file") <(records out) | sed -E -n 's/^([<>] ).*[0-9]  (event )?([a-z:_]+) .*/\1\3/p' |
		sort | uniq -c
done <<-END
	$G/profile.fxt 30ms
	$G/profile-bare.fxt 30ms
	leaks.fxt 5s
	log.fxt 3.5ms
	$T/small 300us
END

# A damaged part may lack what the state of the next one has, which stays.
kymo cut --force --to 30ms "$G/profile.fxt" first 2>/dev/null
kymo cut --force --from 30ms "$G/profile.fxt" second 2>/dev/null
at=$(kymo dump --json first | gojq 'select(.string_value == "moments") | .offset / 8')
dd if=/dev/zero of=first bs=8 seek="$at" count=8 conv=notrunc status=none
kymo merge --force first second out 2>/dev/null
kymo dump out | grep -c " kymo:session_start "

# An event that continues in a part that does not have it.
kymo cut --force --to 30ms "$G/profile.fxt" first 2>/dev/null
head -c $(($(stat -c %s second) / 2 & ~7)) second >half
kymo merge --force first half out 2>&1 | grep -o '; [0-9]* events* cut off .*'
