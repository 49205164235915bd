# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two calls of thread 101 of process 100; the first one has failed.
exec 2>/dev/null
for options in "--failed" "-p 100" "--pid=7,100" "--thread 101" "--process *" "--failed -p 100 --function open*"; do
	echo "--- $options"
	# shellcheck disable=SC2086 # words
	kymo calls $options "$G/events.fxt"
	# shellcheck disable=SC2086
	kymo calls --json $options "$G/events.fxt" | gojq -c 'select(.arguments) | [.process_id, .thread_id, .return]'
	# shellcheck disable=SC2086
	kymo calls --json --summary $options "$G/events.fxt" | gojq -c '.calls[] | [.function, .calls, .errors, .not_returned]'
done
exec 2>&1
for options in "-p 7" "--thread 7 --json" "--failed --function f" "--process x*" "-p x" "--thread 0"; do
	echo "--- $options"
	# shellcheck disable=SC2086
	kymo calls $options "$G/events.fxt"
	echo "exit $?"
done
