#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A recording without an event of a requested category names the category and the likely reason. If
# it has no event of any category, the exit status is not 0.

. "$(dirname "$0")/../lib.sh"
need_btf

sleep 1000 &
idle=$!
expect_soon 10 grep -qx sleep "/proc/$idle/comm"
expect_soon 10 is_asleep "$idle"

note "a thread that does nothing"
expect_exit 3 "$KYMO" record --direct -d 0.3 -e sched,profile -p $idle -o "$TMP/idle.fxt"
assert_line "$TMP/stderr" "$TMP/idle.fxt: no event of category sched: no selected thread ran"
assert_says "$TMP/stderr" "$TMP/idle.fxt: no event of category profile: no selected thread was running when"

note "a live view of it"
expect_exit 3 "$KYMO" top --direct --json -i 200ms -n 1 -p $idle
assert_says "$TMP/stderr" "top: no event of category sched: no selected thread ran"

note "a machine may be idle: then nothing that was chosen is missing"
expect_exit 0 "$KYMO" record --direct -d 0.1 -e workqueue -o "$TMP/machine.fxt"

note "a function that nobody calls"
expect_exit 3 "$KYMO" calls --direct -d 0.3 --call libc.so.6:open -p $idle
assert_line "$TMP/stderr" \
	"the recording: no event of category calls: no selected thread called a function of --call"
! grep -F 'has probes' "$TMP/stderr" || fail "with -p, the file is that of the process"
assert_empty "$TMP/stdout"

note "a name that no thread has"
expect_exit 1 "$KYMO" leaks --direct -d 0.1 --comm "no$$"
assert_says "$TMP/stderr" "no process was watched: none was selected, or the recording was too short"

note "a process that ends before the recording begins"
# (a process has an id until its parent waits for it, and this parent does not)
bash -c 'sleep 1000 & echo $!; exec sleep 1001' >"$TMP/brief" &
parent=$!
expect_soon 10 grep -qx sleep /proc/$parent/comm
brief=$(cat "$TMP/brief")
kill -KILL "$brief"
expect_soon 10 has_ended "$brief"
expect_exit 3 "$KYMO" record --direct -d 0.3 -e profile -p "$brief" -o "$TMP/brief.fxt"
assert_line "$TMP/stderr" "$TMP/brief.fxt: no event of category profile: process $brief has ended"
kill $parent

note "one category of two is empty: nothing is said of the other one"
cp "$KYMO_LOAD" "$TMP/unused"
expect_exit 0 "$KYMO" record --direct -d 0.5 -e sched --call "$TMP/unused:main" \
	-o "$TMP/half.fxt"
assert_line "$TMP/stderr" \
	"$TMP/half.fxt: no event of category calls: no thread called a function of --call"
assert_says "$TMP/stderr" "$TMP/half.fxt: only $(realpath "$TMP")/unused has probes; with LD_LIBRARY_PATH, or in another root"
! grep -F 'category sched' "$TMP/stderr" || fail "there were switches"
expect_exit 0 "$KYMO" record --direct -d 0.5 -e sched --moment "$TMP/unused:main" -o "$TMP/half-moments.fxt"
assert_line "$TMP/stderr" \
	"$TMP/half-moments.fxt: no event of category moments: no thread reached a point (--moment, -e usdt) that collects data"
! grep -F 'category sched' "$TMP/stderr" || fail "there were switches"

note "views of an archive without events for them"
expect_exit 1 "$KYMO" calls "$TMP/idle.fxt"
assert_says "$TMP/stderr" "contains no calls"
expect_exit 1 "$KYMO" moments "$TMP/idle.fxt"
assert_says "$TMP/stderr" "contains no moments"
expect_exit 1 "$KYMO" flame "$TMP/idle.fxt" -o "$TMP/idle.svg"
assert_says "$TMP/stderr" "contains no call stacks"
expect_exit 1 "$KYMO" leaks "$TMP/idle.fxt"
assert_says "$TMP/stderr" "contains no allocation data"

note "views of an archive that was to have them: it is an answer that there are none"
expect_exit 0 "$KYMO" calls "$TMP/half.fxt"
assert_says "$TMP/stderr" "contains no calls: no selected thread called a function of --call"
expect_exit 0 "$KYMO" query "$TMP/half.fxt" '(> (v/value count) 1)'
assert_line "$TMP/stderr" \
	"kymo query: $TMP/half.fxt contains no calls: no selected thread called a function of --call"
expect_exit 0 "$KYMO" summary "$TMP/half.fxt"
assert_line "$TMP/stderr" \
	"kymo summary: $TMP/half.fxt contains no calls: no selected thread called a function of --call"
! grep -F 'no switches' "$TMP/stderr" || fail "there were switches"
expect_exit 0 "$KYMO" summary --json "$TMP/idle.fxt"
assert_line "$TMP/stderr" "kymo summary: $TMP/idle.fxt contains no switches of threads: no selected thread ran"
assert_says "$TMP/stderr" "contains no call stacks: no selected thread was running when a sample was due"
expect_exit 0 "$KYMO" diff "$TMP/idle.fxt" "$TMP/half.fxt"
assert_line "$TMP/stderr" "kymo diff: $TMP/idle.fxt contains no switches of threads: no selected thread ran"
assert_line "$TMP/stderr" \
	"kymo diff: $TMP/half.fxt contains no calls: no selected thread called a function of --call"

note "... but a file that cannot be written is a failure"
expect_exit 1 "$KYMO" flame "$TMP/idle.fxt" -o "$TMP/idle.svg"
assert_says "$TMP/stderr" "contains no call stacks: no selected thread was running when a sample was due"
for format in apitrace tracedb; do
	expect_exit 1 "$KYMO" export --format $format -o "$TMP/out.$format" "$TMP/half.fxt"
	assert_line "$TMP/stderr" \
		"kymo export: $TMP/half.fxt contains no calls: no selected thread called a function of --call"
done
expect_exit 1 "$KYMO" export --format tfile -o "$TMP/out.tf" "$TMP/half.fxt"
assert_says "$TMP/stderr" "contains no moments; record them with"
expect_exit 1 "$KYMO" export --format rtrace -o "$TMP/out" "$TMP/half.fxt"
assert_says "$TMP/stderr" "contains no allocation data; record it with"
kill $idle

note "system calls of a 32-bit program"
if ! gcc -m32 -nostdlib -fno-pic -no-pie -O1 -o "$TMP/load32" -x c - 2>"$TMP/gcc.log" <<-END; then
	static int call(int n, int a, int b, int c)
	{
		int r;

		__asm__ volatile("int \$0x80" : "=a"(r) : "a"(n), "b"(a), "c"(b), "d"(c) : "memory");
		return r;
	}
	void _start(void)
	{
		for (int i = 0; i < 4; i++)
			call(20, 0, 0, 0); /* getpid */
		call(1, 0, 0, 0); /* exit */
	}
	END
	note "not tested: $(head -1 "$TMP/gcc.log")"
	exit 0
fi
if ! "$TMP/load32" 2>/dev/null; then
	note "not tested: this kernel executes no 32-bit programs"
	exit 0
fi
expect_exit 0 "$KYMO" record --direct --call 'syscall:*' -o "$TMP/32.fxt" -e calls -- "$TMP/load32"
assert_line "$TMP/stderr" "$TMP/32.fxt: 5 system calls of 32-bit programs were not recorded: \
only those of 64-bit programs can be"
expect_exit 0 "$KYMO" calls "$TMP/32.fxt"
assert_contains "$TMP/stdout" ' 5 system calls of 32-bit programs were not recorded$'
! grep -E '(writev|getpid)\(' "$TMP/stdout" || fail "calls by the numbers of other ones"
