#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# System calls, compared with strace -f: the calls, their order, and the text of their arguments are
# the same.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command gcc
need_command strace
[ "$(uname -m)" = x86_64 ] || skip "calls are recorded on x86-64"
strace -o "$TMP/works" true 2>/dev/null || skip "no strace that works here"

gcc -D_GNU_SOURCE -O2 -o "$TMP/load" "$ROOT/tests/support/loads/strace-load.c"

# Data that differs between runs: addresses, numbers of processes, random bytes, the load, and the
# time that select() leaves.
normal() {
	sed -E 's/0x[0-9a-f]{6,}|[0-9a-f]{12}/ADDRESS/g
		/^(kill|tgkill|wait4|clone3)\(/s/\b[0-9]{2,}\b/PID/g
		/^getrandom\(/s/\\x[0-9a-f]{2}/X/g
		/^select\(/s/tv_usec=[0-9]+/tv_usec=N/
		/^sysinfo\(/s/[0-9]+/N/g'
}

# Removes the result from lines NAME(ARGUMENTS) = RESULT.
calls() {
	sed -nE 's/^([a-z0-9_]+\(.*\)) += [-?0-9].*$/\1/p'
}

# The calls of one thread after those of another, in the order of their first calls. (Numbers of
# threads begin again at the lowest one, so a child can have a lower number than its parent.)
theirs() {
	local file
	(cd "$TMP" && rm -f strace.* && strace -f -ff -ttt -s 256 -o strace "$@" >/dev/null 2>&1 </dev/null) || :
	for file in "$TMP"/strace.*; do
		[ ! -s "$file" ] || echo "$(sed -n '1s/ .*//p' "$file") $file"
	done | sort -n | cut -d ' ' -f 2- | xargs -d '\n' sed -E 's/^[0-9.]+ //' | calls | normal
}

ours() {
	(cd "$TMP" && "$KYMO" record --direct --force -e calls --call 'syscall:*' -o calls.fxt -- "$@" >/dev/null 2>"$TMP/stderr" </dev/null) ||
		fail "exit status $?: $(cat "$TMP/stderr")"
	"$KYMO" calls "$TMP/calls.fxt" | sed -nE 's/^ *([0-9.]+) .*\/([0-9]+) ([a-z0-9_]+\()/\1 \2 \3/p' | sort -k1,1n |
		awk '!($2 in at) { at[$2] = ++n } { print at[$2], $0 }' | sort -s -k1,1n |
		sed -E 's/^[0-9]+ [0-9.]+ [0-9]+ //' | calls | normal
}

compare() {
	note "$*"
	theirs "$@" >"$TMP/theirs"
	ours "$@" >"$TMP/is"
	assert_ge "$(wc -l <"$TMP/is")" 30 "system calls"
	diff "$TMP/theirs" "$TMP/is" >&2 || fail "strace (<) shows the calls of $1 otherwise than kymo (>)"
	cat "$TMP/is" >>"$TMP/all"
}

mkdir "$TMP/of-load"
compare "$TMP/load" "$TMP/of-load"
compare "$(type -P ls)" -l /usr
compare "$(type -P bash)" -c 'cd /; echo text >/dev/null; [ -e /etc/passwd ] && read -r line </etc/passwd; trap "" INT; umask 077'
compare "$(type -P grep)" -rc root /etc/hostname /etc/passwd

assert_ge "$(sed 's/(.*//' "$TMP/all" | sort -u | wc -l)" 100 "different system calls"

note "a call that a signal interrupts, and the return of the handler"
gcc -O2 -o "$TMP/interrupted" -x c - <<-'END' || fail "the program cannot be compiled"
	#include <errno.h>
	#include <signal.h>
	#include <string.h>
	#include <sys/time.h>
	#include <unistd.h>

	static void on_alarm(int number)
	{
		(void)number;
	}

	int main(void)
	{
		const struct itimerval often = { { 0, 10000 }, { 0, 10000 } };
		struct sigaction action;
		int pipe_ends[2];
		char byte;

		memset(&action, 0, sizeof(action));
		action.sa_handler = on_alarm;
		sigaction(SIGALRM, &action, NULL);
		setitimer(ITIMER_REAL, &often, NULL);
		return pipe(pipe_ends) == 0 && read(pipe_ends[0], &byte, 1) == -1 && errno == EINTR ? 7 : 2;
	}
END
# (the first call is the one that executes the program, although PATH is searched)
(
	PATH=/nowhere:$TMP/of-load:$TMP:$PATH
	expect_exit 7 "$KYMO" calls --direct --call 'syscall:*' -- interrupted
)
sed -n 1p "$TMP/stdout" >"$TMP/first"
assert_contains "$TMP/first" ' execve\("[^"]*/interrupted", .*\) += 0 ' "the first call"
assert_eq "$(grep -c ' execve(' "$TMP/stdout")" 1 "calls that execute a program"
assert_contains "$TMP/stdout" ' read\(.*\) += \? ERESTARTSYS \(To be restarted if SA_RESTART is set\)' "the interrupted call"
assert_contains "$TMP/stdout" ' rt_sigreturn\(\{mask=\[\]\}\) += -1 EINTR ' "the return of the handler"
assert_eq "$(grep -c 'rt_sigreturn.*unwound' "$TMP/stdout")" 0 "returns that are not recorded"

note "options of sockets that are no int are shown as bytes"
gcc -O2 -o "$TMP/options" -x c - <<-'END' || fail "the program cannot be compiled"
	#include <netinet/in.h>
	#include <netinet/tcp.h>
	#include <sys/socket.h>

	int main(void)
	{
		struct linger linger = { 1, 5 };
		socklen_t n = sizeof(linger);
		int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

		return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
		       setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) ||
		       setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4) ||
		       getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &n);
	}
END
expect_exit 0 "$KYMO" calls --direct --call 'syscall:*sockopt' -- "$TMP/options"
assert_contains "$TMP/stdout" 'setsockopt\([0-9]+, SOL_SOCKET, SO_REUSEADDR, \[1\], 4\)'
assert_says "$TMP/stdout" 'SOL_SOCKET, SO_LINGER, "\1\0\0\0\5\0\0\0", 8)'
assert_says "$TMP/stdout" 'SOL_TCP, TCP_CONGESTION, "reno", 4)'
# (the size of the value is in memory, so its bytes are unknown, and no part of it is shown)
assert_contains "$TMP/stdout" 'getsockopt\([0-9]+, SOL_SOCKET, SO_LINGER, 0x[0-9a-f]+, \[8\]\)'

note "a process with an empty name"
expect_exit 0 "$KYMO" record --direct --force -o "$TMP/calls.fxt" -e sched,calls --call syscall:kill -- \
	bash -c 'printf "\0" >/proc/$$/comm; kill -0 $$'
expect_read "$TMP/calls.fxt" "$KYMO" calls "$TMP/calls.fxt"
assert_contains "$TMP/stdout" '^ *[0-9.]+ \?/[0-9]+ kill\(' "a call of it"
expect_read "$TMP/calls.fxt" "$KYMO" summary -n 1000 "$TMP/calls.fxt"
assert_contains "$TMP/stdout" ' \?$' "its row"
