# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The results for programs; without sizes, which grow with the list of names.
{
	kymo repair --json "$T/zeros" repaired
	kymo cut --json --from 100us --to 400us "$T/small" cut
	kymo merge --json "$T/small" "$T/small" merged
	head -c 32 "$T/golden" >key
	kymo redact --json --key key "$G/everything.fxt" redacted
} | grep -v '"\(file_\)\?bytes"'
for result in repaired cut merged redacted; do
	kymo check "$result" >/dev/null && echo "$result is good"
done
