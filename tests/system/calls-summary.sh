#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sums of calls by process and function: the numbers of calls and of errors are those that the
# program makes, and those of `strace -c -f`.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
need_command gcc
[ "$(uname -m)" = x86_64 ] || skip "calls are recorded on x86-64"
remember_bpf

# Three children, one after the other. Child I makes 10 * (I + 1) calls of getppid(), and reads half
# as many bytes, one by one, and fails to open as many files.
gcc -D_GNU_SOURCE -O2 -o "$TMP/load" -x c - <<-'END'
	#include <fcntl.h>
	#include <sys/syscall.h>
	#include <sys/wait.h>
	#include <unistd.h>

	__attribute__((noipa)) long work(int n)
	{
		char c;
		int zero = open("/dev/zero", O_RDONLY);

		for (int i = 0; i < n; i++) {
			syscall(SYS_getppid);
			if (i % 2 && read(zero, &c, 1) != 1)
				return -1;
			if (i % 2 && open("/nonexistent/file", O_RDONLY) >= 0)
				return -1;
		}
		close(zero);
		return n;
	}

	int main(void)
	{
		for (int i = 0; i < 3; i++) {
			pid_t pid = fork();

			if (pid == 0)
				_exit(work(10 * (i + 1)) < 0);
			waitpid(pid, NULL, 0);
		}
		return 0;
	}
END

note "the calls of a program with children"
expect_exit 0 "$KYMO" record --direct --force -e calls --call 'syscall:*' --call "$TMP/load:work(int n) -> long" \
	-o "$TMP/load.fxt" -- "$TMP/load"
expect_exit 0 "$KYMO" calls --summary --json "$TMP/load.fxt"
cp "$TMP/stdout" "$TMP/sums"
holds "$TMP/sums" '.lost_records == 0 and .left_out == []'
# each child by its number of calls of getppid
gojq -c '[.calls | group_by(.process_id)[] | [.[] | {(.function): [.calls, .errors]}] | add |
	select(.getppid) | [.getppid, .read, .openat, .close, .work]] | sort[]' "$TMP/sums" >"$TMP/is"
diff "$TMP/is" - >&2 <<-'END' || fail "the sums (<) differ from the calls made (>)"
	[[10,0],[5,0],[6,5],[1,0],[1,0]]
	[[20,0],[10,0],[11,10],[1,0],[1,0]]
	[[30,0],[15,0],[16,15],[1,0],[1,0]]
END
holds "$TMP/sums" '[.calls[] | select(.function == "exit_group") | [.calls, .not_returned]] == [[0, 1], [0, 1], [0, 1], [0, 1]]'
holds "$TMP/sums" 'all(.calls[]; .p50_ns <= 1.04 * .max_ns and .max_ns <= .total_ns)'

note "the table"
expect_exit 0 "$KYMO" calls --summary --function 'getpp*' "$TMP/load.fxt"
assert_eq "$(grep -c '^load ([0-9]*): [123]0 calls, 0 errors, ' "$TMP/stdout")" 3 "processes"
assert_eq "$(awk '$NF == "getppid" { print $1, $2, $3 }' "$TMP/stdout" | sort -n | paste -sd,)" "10 0 0,20 0 0,30 0 0" "rows"
expect_exit 3 "$KYMO" calls --summary --function 'getppit' "$TMP/load.fxt"
assert_says "$TMP/stderr" "getppid"
expect_exit 2 "$KYMO" calls --summary --stack-trace "$TMP/load.fxt"

note "a summary of the archive counts the calls behind its last row"
expect_exit 0 "$KYMO" summary --json "$TMP/load.fxt"
cp "$TMP/stdout" "$TMP/all"
expect_exit 0 "$KYMO" summary -n 2 "$TMP/load.fxt"
assert_says "$TMP/stdout" "$(gojq -r '.calls | [.[2:][] | .returned + .unwound + .open] as $rest |
	" \($rest | add) more, of \($rest | length) other functions (-n shows more)"' "$TMP/all")"

note "live, with a limit"
expect_exit 0 "$KYMO" calls --direct --summary --json --call 'syscall:getppid limit 1/s' -- "$TMP/load"
holds "$TMP/stdout" '([.calls[] | .calls] | add) + ([.left_out[] | .calls] | add) == 60'

if command -v strace >/dev/null && strace -f -c -o "$TMP/strace" "$TMP/load" 2>/dev/null; then
	note "strace -c -f"
	# its columns: % time, seconds, usecs/call, calls, errors (if any), name
	awk '$1 ~ /^[0-9.]+$/ && $NF != "total" { print $NF, $4, NF == 6 ? $5 : 0 }' "$TMP/strace" | sort >"$TMP/theirs"
	assert_ge "$(wc -l <"$TMP/theirs")" 10 "system calls"
	gojq -r '[.calls[] | select(.calls > 0 and .function != "work")] | group_by(.function)[] |
		"\(.[0].function) \(map(.calls) | add) \(map(.errors) | add)"' "$TMP/sums" | sort >"$TMP/ours"
	diff "$TMP/theirs" "$TMP/ours" >&2 || fail "strace -c (<) has other sums than kymo (>)"
else
	note "not compared: no strace that works here"
fi
no_bpf_left "recordings of calls"
