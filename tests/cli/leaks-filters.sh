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
# A search has no result for single blocks (200), for those in a part of memory (300), or for a
# whole process (400). What is suppressed is not asked for.
searched() {
	echo "map 100 401000 10000 1000 - /usr/bin/demo"
	echo "frame 100 4010ff 0 12 /src/demo.c fill"
	echo "watch 100 memory 1 0 0 libc.so.6: malloc free"
	echo "stack 100 11 401100"
	echo "stack 100 12 401200"
	echo "stack 100 13 401300"
	echo "snapshot 100 4 1"
	echo "block 100 memory 1000 8 12 malloc 200 lost"
	echo "block 100 memory 2000 8 13 malloc 200 -"
	echo "block 100 memory 3000 8 13 malloc 200 -"
	echo "block 100 memory 4000 8 11 malloc 200 -"
	echo "watched 100 exit 0 0 0 0$1"
}
{
	echo "task 100 p"
	echo "at 0"
	searched
} | make-profile c.fxt
{
	echo "task 100 p"
	echo "at 0"
	searched " |only the program can read its memory"
} | make-profile d.fxt
{
	echo "task 100 p"
	echo "task 400 q"
	echo "at 0"
	searched
	echo "watch 400 memory 1 0 0 libc.so.6: malloc free"
	echo "snapshot 400 1 1"
	echo "block 400 memory 1000 8 100 malloc 200 -"
	echo "watched 400 exit 0 0 0 0"
} | make-profile e.fxt
# (The only block of the second process was made after the search.)
{
	echo "task 100 p"
	echo "task 400 q"
	echo "at 0"
	searched " ||searched"
	echo "watch 400 memory 1 0 0 libc.so.6: malloc free"
	echo "snapshot 400 1 1"
	echo "block 400 memory 1000 8 100 malloc 200 -"
	echo "watched 400 stop 0 0 0 0 ||searched"
} | make-profile f.fxt
echo leak:fill >fill
for options in "c.fxt --verdict lost" "c.fxt --verdict lost --suppressions fill" "d.fxt --verdict lost" \
	"d.fxt --verdict lost,unfreed" "e.fxt --verdict possibly-lost --fail-over 0" "e.fxt --verdict lost -p 100" \
	"f.fxt --verdict possibly-lost" "f.fxt --verdict possibly-lost -p 400"; do
	echo "--- $options"
	# shellcheck disable=SC2086 # words
	kymo leaks $options 2>&1 | grep -E 'kymo leaks|leaks found|block'
	echo "exit ${PIPESTATUS[0]}"
done
