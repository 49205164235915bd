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
# What was not recorded, or not searched for, is not "no leaks".
make-profile b.fxt <<-END
	task 100 p
	at 0
	watch 100 memory 1 0 0 libc.so.6: malloc free
	snapshot 100 1 1
	block 100 memory 1000 8 100 malloc 200 -
	watched 100 exit 0 0 0 0
END
for options in "--resource fd" "--resource fd,memory" "--fail-over 0 --resource fd" \
	"--verdict lost" "--fail-over 0 --verdict lost" "--verdict lost,young" "--min-bytes 1M"; do
	echo "--- $options"
	# shellcheck disable=SC2086 # words
	kymo leaks b.fxt --no-symbols $options 2>&1 | grep -E 'kymo leaks|leaks found|block'
	echo "exit ${PIPESTATUS[0]}"
done
