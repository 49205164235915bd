# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A recording that was cut off in the middle of a record gets its end.
kymo repair "$T/truncated" out 2>/dev/null
kymo dump out | grep -v '  string '

# Cut off at any place, the result has no findings; nor is a lost block missing without a word.
make-profile leaks.fxt <"$L/demo"
make-profile log.fxt <"$L/log"
# (With sanitizers, at a third of the places: each takes two starts of kymo.)
for archive in "$G/profile.fxt" leaks.fxt log.fxt; do
	size=$(stat -c %s "$archive")
	for ((i = 1; i <= 40; i += ${KYMO_TEST_BUILD_FACTOR:-1})); do
		head -c $((size * i / 41)) "$archive" >cut-off
		kymo repair --force cut-off repaired 2>/dev/null || echo "$archive: $i of 41: not repaired"
		kymo check --strict repaired >checked 2>&1 || echo "$archive: $i of 41: $(cat checked)"
	done
done
# (behind the first event 'snapshot', in the next record)
end=$(kymo dump --json leaks.fxt |
	gojq -s 'map(select(.name == "snapshot"))[0] | .offset + .record_size * 8')
head -c $((end + 12)) leaks.fxt >cut-off
kymo repair --force cut-off repaired
for what in cut-off repaired; do
	kymo leaks --no-symbols $what 2>/dev/null | grep 'blocks missing'
done
