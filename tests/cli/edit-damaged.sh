# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Damaged archives: repair makes valid ones of them. The other verbs use the readable part, and
# report this.
head -c 32 "$T/golden" >key
for name in zeros truncated cut-off bad-args bad-weights undefined foreign; do
	echo "== $name"
	kymo repair "$T/$name" repaired
	echo "repair: exit $?"
	kymo cut --to 1h "$T/$name" cut
	echo "cut: exit $?"
	kymo merge "$T/$name" "$T/small" merged
	echo "merge: exit $?"
	kymo redact --key key "$T/$name" redacted
	echo "redact: exit $?"
	for result in repaired cut merged redacted; do
		[ ! -e "$result" ] || ! kymo check "$result" >checked || echo "$result is good"
	done
	rm -f repaired cut merged redacted
done 2>&1 | sed -E 's/: [0-9.]+ [KM]?i?B(, |$)/: /'
