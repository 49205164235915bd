# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A part of the recording begins with the state at its start, and closes open events.
kymo cut --from 150us --to 450us "$T/small" out 2>/dev/null
kymo dump out | grep -v '  string '
kymo cut --pid 102 "$T/small" child 2>/dev/null
kymo summary child
# A process that is not there is a mistake.
for pids in 999 102,999; do
	kymo cut --pid $pids "$T/small" "cut-$pids" 2>&1
	echo "exit $?"
done
ls cut-*
# A parent that only its children name selects them.
make-profile orphans.fxt <<-END
	task 102 child
	at 1
	exec 102 program
END
kymo dump orphans.fxt | grep ' process "child"'
kymo cut --pid 1 orphans.fxt by-parent 2>&1
echo "exit $?"
