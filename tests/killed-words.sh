# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Functions for tests that kill a recording, to be sourced after lib.sh.

boottime() {
	"$KYMO_LOAD" clock | gojq .boottime
}

# check_killed FILE BEFORE: checks FILE, whose recording was killed after BEFORE. Sets LAST, the time
# of its last record, and MISSING_MS, the time before the kill that is missing. Only the end may be
# missing. Not even a record is truncated, because pieces are written completely.
check_killed() {
	expect_exit 3 "$KYMO" check --json "$1"
	assert_eq "$(json "$TMP/stdout" '.errors - (if .truncated then 1 else 0 end)')" 0 \
		"errors other than a cut tail"
	assert_eq "$(json "$TMP/stdout" .cut_off)" true "the answer of check about the end"
	dump_records "$1"
	LAST=$(gojq '.timestamp_ns // empty' "$DUMP" | sort -n | tail -1)
	# shellcheck disable=SC2034 # for the test
	MISSING_MS=$((($2 - LAST) / 1000000))
	summarize "$1"
	assert_no_loss
}

# remember_kernel_log: no_probe_data_left looks at what the kernel logs from now on.
remember_kernel_log() {
	echo "kymo-test.$$" >/dev/kmsg
}

# The messages of the kernel about data of probes that it has to keep until the next boot, because
# the removal was interrupted. Kernels before 6.12 do not write them.
probe_data_left() {
	dmesg | sed "1,/kymo-test.$$\$/d" | grep -E '(kymo-probes|leave-probes):.*leaking uprobe' || true
}
no_probe_data_left() {
	assert_eq "$(probe_data_left | wc -l)" 0 "probes whose data is left in the kernel after $1"
}
