#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `kymo calls` that is ended by SIGTERM, as timeout(1) and systemd do: it prints all calls that it
# has recorded, and ends without an error.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command gcc
[ "$(uname -m)" = x86_64 ] || skip "calls are recorded on x86-64"
remember_bpf

gcc -O1 -o "$TMP/load" -x c - <<-'END'
	#include <unistd.h>

	__attribute__((noipa)) int step(int n)
	{
		return n;
	}

	int main(void)
	{
		for (int i = 0;; i++)
			if (step(i) % 1000 == 999)
				usleep(1000);
	}
END

for words in "--" "--json --"; do
	# (the shell may make the new file only after it was looked at)
	rm -f "$TMP/calls"
	# shellcheck disable=SC2086
	"$KYMO" calls --direct --call "$TMP/load:step(int n) -> int" $words "$TMP/load" \
		>"$TMP/calls" 2>"$TMP/stderr" &
	pid=$!
	expect_soon 20 grep -q step "$TMP/calls"
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	assert_eq "$status" 0 "exit status"
	! grep 'Broken pipe' "$TMP/stderr" || fail "the recording failed"
	assert_contains "$TMP/stderr" 'is still running, as process [0-9]+'
	load=$(sed -n 's/.*still running, as process //p' "$TMP/stderr")
	kill "$load"
	note "$(wc -l <"$TMP/calls") lines ($words)"
done
no_bpf_left "a recording of calls that SIGTERM has ended"
