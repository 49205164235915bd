# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Code in no file has names only if its run-time compiler writes them. The reason says what makes it
# do so.
mkdir empty
pid=1000000
for file in /usr/lib/jvm/lib/server/libjvm.so /usr/bin/node /usr/bin/python3.11 \
	/usr/lib/erlang/erts/bin/beam.smp /usr/lib/libguile-3.0.so.1 /usr/bin/other; do
	pid=$((pid + 1))
	{
		echo 'start aa'
		echo "task $pid program"
		echo "map $pid 1000 1000 0 - $file"
		echo "map $pid 5000 1000 0 - //anon"
		echo 'at 10'
		echo "sample $pid 5010 1010"
	} | "$MAKE_PROFILE" a.fxt
	kymo symbolize --force --sysroot empty a.fxt b.fxt 2>&1 | grep -o 'perf-.*does not exist.*'
done
