# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Functions for the tests that run on each kernel, in addition to lib.sh. Each test makes a known
# load, and prints facts about the archive that must be equal on each kernel (`fact`).
# tools/test-kernels compares them.

# The amount of work: emulated processors take ten times as long for it.
export ROUNDS=300

# fact WORD ...: prints a fact, and adds it to the file $KYMO_FACTS
fact() {
	echo "$*" | tee -a "${KYMO_FACTS:-/dev/null}"
}

# facts: the same for each line of standard input
facts() {
	tee -a "${KYMO_FACTS:-/dev/null}"
}

# fact_at_least NAME N MOST WORD ...: the fact "NAME: N WORD ...", in which numbers above MOST count
# as MOST. N must not be 0: otherwise, events that are missing on each kernel would not be noticed.
fact_at_least() {
	local name=$1 n=$2 most=$3

	shift 3
	assert_ge "$n" 1 "$name"
	fact "$name: $((n < most ? n : most))${*:+ $*}"
}

# has_no_findings FILE: runs the check in a subshell, since `fail` exits
has_no_findings() {
	(check_finds_nothing "$1") 2>"$TMP/findings.log"
}

# capture CATEGORIES COMMAND ...: records while COMMAND runs, with $record_options. The archive is
# $ARCHIVE, and the command's output is in $TMP/truth.json. The archive also contains activity of
# other processes, which can cause findings that no recording can avoid. Then it is tried again.
record_options=()
capture() {
	local n

	ARCHIVE=$TMP/$1.fxt
	for n in 1 2 3; do
		record_around "$ARCHIVE" -e "$1" "${record_options[@]}" -- "${@:2}"
		cp "$TMP/stdout" "$TMP/truth.json"
		! has_no_findings "$ARCHIVE" || break
		note "findings (try $n): $(cat "$TMP/findings.log")"
	done
	check_finds_nothing "$ARCHIVE"
	summarize "$ARCHIVE"
	assert_no_loss
	assert_eq "$(json "$SUMMARY" .complete)" true "whether the archive of $1 is complete"
}
