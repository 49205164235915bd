# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
make-profile a.fxt <"$L/demo"
leaks() {
	echo "--- $*"
	kymo leaks a.fxt --no-symbols --json "$@" |
		gojq -c '.processes[] | [.leaks[] | [.verdict, .resource, .blocks, .bytes]], .left_out'
}
leaks
leaks --top 1
leaks --resource memory
leaks --resource fd,shm
leaks --verdict lost,growing
leaks --verdict possibly-lost
leaks --min-bytes 1K
leaks --min-blocks 2
leaks --min-age 5s
leaks --context login
leaks --context login --min-age 5s --resource memory --verdict old
for limit in 0 4K 10K; do
	kymo leaks a.fxt --fail-over "$limit" >/dev/null
	echo "exit $?"
done
kymo leaks a.fxt --fail-over 300 --verdict lost >/dev/null
echo "exit $?"
