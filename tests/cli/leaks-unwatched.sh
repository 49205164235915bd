# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A program without probes, or without all of them, has no known leaks: that is no success.
make-profile a.fxt <<-END
	task 100 seen
	task 200 stripped
	task 300 short
	task 400 gap
	task 500 secret
	at 0
	watch 100 memory 1 0 0 libc.so.6: malloc free
	unwatched 200 memory,fd stripped: its allocator is unknown
	unwatched 300 memory it ended before it could be watched
	watch 400 memory 1 0 0 libc.so.6: malloc free
	watch 500 memory 1 0 0 libc.so.6: malloc free
	snapshot 200 1 1
	block 200 fd 3 1 0 open 200 -
	watched 100 exit 0 0 0 0
	watched 200 exit 0 0 0 0
	watched 300 exit 0 0 0 0
	watched 400 exit 0 0 0 0 its first thread ended
	watched 500 exit 0 0 0 0 |only the program can read its memory of memfd_secret()
END
kymo leaks a.fxt
echo "exit $?"
kymo leaks a.fxt --json 2>/dev/null | gojq -c '.processes[] | [.pid, .complete, .watched, .unwatched, .gap, .unsearched]'
leaks() {
	echo "--- $*"
	kymo leaks a.fxt "$@" >/dev/null
	echo "exit $?"
}
leaks --fail-over 4K
leaks --fail-over 4K --allow-unwatched
leaks --allow-unwatched
leaks --allow-unwatched --fail-over 0
# Of other resources all is known.
leaks --fail-over 4K --resource fd
leaks --fail-over 4K -p 100
leaks --fail-over 4K -p 300
leaks --fail-over 4K -p 400
leaks --allow-unwatched -p 400
# Programs that were not watched from their beginning on are judged, and counted.
make-profile b.fxt <<-END
	task 100 seen
	task 200 forked
	at 0
	watch 100 memory 1 0 0 libc.so.6: malloc free
	watch 200 memory 0 0 0 libc.so.6: malloc free
	watched 100 exit 0 0 0 0
	watched 200 exit 0 0 0 0
END
for options in "" "--fail-over 0" "--fail-over 0 -p 100" "--fail-over 0 -p 200"; do
	echo "--- $options"
	# shellcheck disable=SC2086 # words
	kymo leaks b.fxt $options >/dev/null
	echo "exit $?"
done
