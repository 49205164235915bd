# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A failed output is an error, also if there was damage to report.
full() {
	kymo "$@" 2>&1 >/dev/full | grep -v 'at byte'
	echo "exit ${PIPESTATUS[0]}: $* >/dev/full"
}
closed() {
	kymo "$@" 2>&1 >&- | grep -v 'at byte'
	echo "exit ${PIPESTATUS[0]}: $* >&-"
}
for how in full closed; do
	$how --help
	$how --version
	$how help
	$how dump --help
	for verb in dump check summary 'diff t/small'; do
		for option in '' --json; do
			# shellcheck disable=SC2086
			$how $verb $option t/small
			# shellcheck disable=SC2086
			$how $verb $option t/damaged
		done
	done
	$how check --list
	$how check --all t/damaged
	$how summary t/lost
	$how export t/small -o - --format fxt
	$how repair t/small -
done
# A reader that ends stops the verb; with SIGPIPE ignored, the verb reports it.
kymo dump t/small | :
echo "exit ${PIPESTATUS[0]}" | sed 's/141/0/'
(
	trap '' PIPE
	mkfifo pipe
	: <pipe &
	exec 3>pipe
	wait $!
	kymo summary t/small 2>&1 >&3 3>&-
	echo "exit $?"
)
