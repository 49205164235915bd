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
# Programs from before the recording are judged, and counted. A program that called exec is not judged.
make-profile b.fxt <<-END
	task 100 seen
	task 200 earlier
	task 300 env
	at 0
	watch 100 memory 1 0 0 libc.so.6: malloc free
	watch 200 memory 0 0 0 libc.so.6: malloc free
	watch 300 memory 0 0 0 libc.so.6: malloc free
	exec 300 program
	watched 300 exec 0 0 0 0
	watched 100 exit 0 0 0 0
	watched 200 exit 0 0 0 0
END
for options in "" "--fail-over 0" "--fail-over 0 -p 100" "--fail-over 0 -p 200" "--fail-over 0 -p 300"; do
	echo "--- $options"
	# shellcheck disable=SC2086 # words
	kymo leaks b.fxt $options >/dev/null
	echo "exit $?"
done
kymo leaks b.fxt -p 300
# A child of fork is watched from a later moment on, and may have leaked before. An exec would free that.
make-profile c.fxt <<-END
	task 100 server
	task 200 worker
	task 300 runner
	task 400 program
	at 0
	watch 100 memory,fd 1 0 0 libc.so.6: malloc free
	at 1
	fork 100 200
	fork 100 300
	fork 100 400
	at 2
	exec 400 program
	at 7
	watch 200 memory,fd 0 0 0 libc.so.6: malloc free
	watch 300 memory,fd 0 0 0 libc.so.6: malloc free
	watch 400 memory,fd 0 0 0 libc.so.6: malloc free
	at 20
	exec 300 program
	watched 300 exec 0 0 0 0
	watched 200 exit 0 0 0 0
	watched 400 exit 0 0 0 0
	watched 100 exit 0 0 0 0
END
kymo leaks c.fxt -p 200
kymo leaks c.fxt --json | gojq -c '.processes[] | [.pid, .complete, .gap, .forked_ns]'
for options in "" "--fail-over 0" "--fail-over 0 -p 300,400" "--fail-over 0 --allow-forked" \
	"--fail-over 0 --allow-unwatched" "--fail-over 0 --resource fd"; do
	echo "--- $options"
	# shellcheck disable=SC2086 # words
	kymo leaks c.fxt $options >/dev/null
	echo "exit $?"
done
# In a gap, the ends of threads are unknown, too.
make-profile d.fxt <<-END
	task 100 joins
	at 0
	watch 100 memory,thread 1 0 0 libc.so.6: malloc free
	watched 100 exit 0 0 0 0 probes were refused
END
for resource in thread memory; do
	kymo leaks d.fxt --fail-over 0 --resource $resource >/dev/null
	echo "exit $?"
done
