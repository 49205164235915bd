# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Words for the tests that run on each kernel, behind those of lib.sh. Each makes a load that is
# known, and states what the archive says of it in words that are the same on each kernel: `fact`.
# tools/test-kernels compares them.

# The amount of work: emulated processors take ten times as long for it.
export ROUNDS=300

# fact WORD ...: goes to the file $KYMO_FACTS
fact() {
	echo "$*" | tee -a "${KYMO_FACTS:-/dev/null}"
}

# facts: likewise, each line of standard input
facts() {
	tee -a "${KYMO_FACTS:-/dev/null}"
}

# fact_at_least NAME N MOST WORD ...: the fact "NAME: N WORD ...", in which numbers above MOST count
# as MOST. It must not be 0: otherwise, a fact that is missing on each kernel would be no
# difference.
fact_at_least() {
	local name=$1 n=$2 most=$3

	shift 3
	assert_ge "$n" 1 "$name"
	fact "$name: $((n < most ? n : most))${*:+ $*}"
}

# has_no_findings FILE: in its own process, since `fail` ends it
has_no_findings() {
	(check_finds_nothing "$1") 2>"$TMP/findings.log"
}

# capture CATEGORIES COMMAND ...: records while COMMAND runs, with $record_options. The archive is
# $ARCHIVE, and the command's output is in $TMP/truth.json. The archive also contains activity of
# other processes, some of which no recording can handle: then it is tried again.
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
