# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo calls "$G/events.fxt"
kymo calls --function 'f*' - <"$G/events.fxt"
kymo calls --min 1ns "$G/events.fxt"
kymo calls --json "$G/events.fxt"
kymo calls --summary "$G/events.fxt"
kymo calls --summary --json --function 'f*' "$G/events.fxt"
kymo export -o calls.trace "$G/events.fxt" && kymo dump calls.trace
kymo export --force --plain --order=arrival -o calls.trace "$G/events.fxt" && kymo dump calls.trace
kymo check calls.trace
kymo export --format apitrace --compress=none -o - "$G/events.fxt" | kymo dump - | tail -1
kymo export --split=pid -o each.trace "$G/events.fxt" && ls each* && kymo dump --json each-100.trace | sed -n 1,3p
# Names that nothing has, and times that no call took.
make-profile no.fxt <<-END
	task 100 p
	at 0
END
for options in "--function g" "--function g*" "--function ff" "--function ff --json" "--min 1h" "--function f --min 1h"; do
	echo "--- $options"
	# shellcheck disable=SC2086 # words
	kymo calls $options "$G/events.fxt" 2>&1
	echo "exit $?"
done
kymo calls --function f no.fxt 2>&1
echo "exit $?"
for point in 'no' '*'; do
	kymo moments --point "$point" "$G/events.fxt" 2>&1 | sed -n 1p
	echo "exit ${PIPESTATUS[0]}"
done
