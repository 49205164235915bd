# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Words for the tests that run on each kernel, behind those of lib.sh. Each makes a load that is
# known, and states what the archive says of it in words that are the same on each kernel: `fact`.
# tools/test-kernels compares them.

# How much is done: emulated processors take ten times as long for it.
export ROUNDS=300

# fact WORD ...: goes to the file $KYMO_FACTS
fact() {
	echo "$*" | tee -a "${KYMO_FACTS:-/dev/null}"
}

# facts: likewise, each line of standard input
facts() {
	tee -a "${KYMO_FACTS:-/dev/null}"
}

# fact_at_least NAME N MOST WORD ...: the fact "NAME: N WORD ...", where more than MOST are as good.
# There must be some: what is missing on each kernel is no difference between them.
fact_at_least() {
	local name=$1 n=$2 most=$3

	shift 3
	assert_ge "$n" 1 "$name"
	fact "$name: $((n < most ? n : most))${*:+ $*}"
}

# has_no_findings FILE: in a process of its own, since `fail` ends it
has_no_findings() {
	(check_finds_nothing "$1") 2>"$TMP/findings.log"
}

# capture CATEGORIES COMMAND ...: records while COMMAND runs, with $record_options; the archive is
# $ARCHIVE, and what it printed is in $TMP/truth.json. What others do on the machine at the same
# time is in it, too, and some of that no recording can get right: it is tried again.
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
