# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
make-profile a.fxt <"$L/demo"
make-profile b.fxt <"$L/later"
kymo leaks b.fxt --diff a.fxt
kymo leaks b.fxt --diff a.fxt --json | gojq -c '[.processes[].leaks[] | [.blocks, .old_blocks, .bytes, .old_bytes]], [.gone[] | [.resource, .old_blocks, .old_bytes]]'
kymo leaks a.fxt --diff a.fxt --json | gojq -c '[.processes[].leaks[] | .bytes - .old_bytes], .gone'
# A resource that only one of the archives has is not "none".
make-profile few.fxt <<-END
	task 100 demo
	at 10
	watch 100 memory 0 0 0 libc.so.6: malloc, calloc, free
	watched 100 stop 0 0 0 0
END
for options in "a.fxt --diff few.fxt" "few.fxt --diff a.fxt"; do
	# shellcheck disable=SC2086 # words
	kymo leaks --resource memory,fd $options >/dev/null
	echo "exit $?"
done
