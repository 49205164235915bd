#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A coroutine that another thread resumes: a return probe would kill the program, so --fast-returns
# refuses it.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command cc
[ "$(uname -m)" = x86_64 ] || skip "calls are recorded on x86-64 only"

cat >"$TMP/moves.c" <<-'END'
	#include <pthread.h>
	#include <ucontext.h>

	static ucontext_t first, second, coroutine;
	static int is_second;
	static char stack[65536];

	__attribute__((noinline)) int suspend(int x)
	{
		swapcontext(&coroutine, is_second ? &second : &first);
		return x * 10;
	}

	__attribute__((noinline)) int moved(int x)
	{
		return suspend(x) + 10;
	}

	static int result;

	static void body(void)
	{
		result = moved(4);
		swapcontext(&coroutine, &second);
	}

	static void *resume(void *arg)
	{
		is_second = 1;
		swapcontext(&second, &coroutine);
		return arg;
	}

	int main(void)
	{
		pthread_t thread;

		getcontext(&coroutine);
		coroutine.uc_stack.ss_sp = stack;
		coroutine.uc_stack.ss_size = sizeof(stack);
		makecontext(&coroutine, body, 0);
		swapcontext(&first, &coroutine);
		if (pthread_create(&thread, NULL, resume, NULL) != 0)
			return 1;
		pthread_join(thread, NULL);
		return result == 50 ? 7 : 2;
	}
END
cc -O2 -pthread -o "$TMP/moves" "$TMP/moves.c" || fail "the program cannot be compiled"

note "without return probes"
expect_exit 7 "$KYMO" calls --direct --call "$TMP/moves:moved(int x) -> int" -- "$TMP/moves"
assert_contains "$TMP/stdout" ' moved\(4\) += 50 ' "the call, which returns in another thread"

note "functions that switch stacks, or keep their return address, have no return probes"
expect_exit 7 "$KYMO" calls --direct --call libc.so.6:swapcontext -- "$TMP/moves"
assert_contains "$TMP/stdout" '^ .* swapcontext\(' "the calls"
cc -O2 -o "$TMP/again" -x c - <<-'END' || fail "the program cannot be compiled"
	#include <ucontext.h>

	int main(int argc, char **argv)
	{
		static volatile int n;
		ucontext_t here;

		getcontext(&here);
		if (n++ < 3)
			setcontext(&here);
		return argc == 3 && n == 4 ? 7 : 2;
	}
END
expect_exit 7 "$KYMO" calls --direct --call libc.so.6:getcontext -- "$TMP/again" two more
assert_eq "$(grep -c ' getcontext(' "$TMP/stdout")" 1 "calls of getcontext"
expect_exit 7 "$KYMO" calls --direct --fast-returns --force-fast-returns --call "$TMP/again:_start()" -- "$TMP/again" two more

note "with return probes"
for stripped in no yes; do
	[ $stripped = no ] || strip --strip-unneeded "$TMP/moves"
	name=moved
	[ $stripped = no ] || name=_start
	expect_exit 125 "$KYMO" calls --direct --fast-returns --call "$TMP/moves:$name" -- "$TMP/moves"
	assert_contains "$TMP/stderr" 'moves uses [a-z]*context' "the reason"
	assert_says "$TMP/stderr" 'add --force-fast-returns' "the remedy"
done

note "a switch that is written by hand, here and in a library that the program needs"
cat >"$TMP/switch.s" <<-'END'
	.text
	.globl hop
	hop:
		push %rbp
		push %rbx
		mov %rsp,(%rdi)
		mov %rsi,%rsp
		pop %rbx
		pop %rbp
		ret
	.section .note.GNU-stack,"",@progbits
END
cat >"$TMP/hops.c" <<-'END'
	#include <pthread.h>
	#include <stdint.h>

	void hop(void **from, void *to);

	static void *first, *second, *coroutine, *end;
	static uint64_t stack[8192] __attribute__((aligned(64)));
	static int is_second, result;

	__attribute__((noinline)) int hops(int x)
	{
		hop(&coroutine, is_second ? second : first);
		return x * 10;
	}

	static void body(void)
	{
		result = hops(5);
		hop(&end, second);
	}

	static void *resume(void *arg)
	{
		is_second = 1;
		hop(&second, coroutine);
		return arg;
	}

	int main(void)
	{
		pthread_t thread;

		stack[8180] = (uintptr_t)body;
		coroutine = &stack[8178];
		hop(&first, coroutine);
		if (pthread_create(&thread, NULL, resume, NULL) != 0)
			return 1;
		pthread_join(thread, NULL);
		return result == 50 ? 7 : 2;
	}
END
cc -O2 -pthread -o "$TMP/hops" "$TMP/hops.c" "$TMP/switch.s" || fail "the program cannot be compiled"
expect_exit 125 "$KYMO" calls --direct --fast-returns --call "$TMP/hops:hops" -- "$TMP/hops"
assert_says "$TMP/stderr" "hops has code that switches stacks, in 'hop'" "the reason"
strip --strip-unneeded "$TMP/hops"
expect_exit 125 "$KYMO" calls --direct --fast-returns --call "$TMP/hops:_start" -- "$TMP/hops"
assert_says "$TMP/stderr" "hops has code that switches stacks" "the reason, without names"

cc -shared -o "$TMP/libhop.so" "$TMP/switch.s"
cc -O2 -pthread -o "$TMP/hops" "$TMP/hops.c" "$TMP/libhop.so" -Wl,-rpath,"$TMP" || fail "the program cannot be compiled"
expect_exit 125 "$KYMO" calls --direct --fast-returns --call "$TMP/hops:hops" -- "$TMP/hops"
assert_says "$TMP/stderr" "libhop.so has code that switches stacks ('hop'), and is used by $TMP/hops" "the library"
cc -shared -fPIC -O2 -o "$TMP/libplain.so" -x c - <<<'int plain(int x); int plain(int x) { return x + 1; }'
expect_exit 125 "$KYMO" calls --direct --fast-returns --call "$TMP/libplain.so:plain" -- "$TMP/hops"
assert_says "$TMP/stderr" "libhop.so has code that switches stacks ('hop'), and is used by $TMP/hops" "the command"
expect_exit 7 "$KYMO" calls --direct --call "$TMP/hops:hops" -- "$TMP/hops"

note "a call that longjmp() leaves, and another one at the same stack pointer"
cat >"$TMP/jumps.c" <<-'END'
	#include <setjmp.h>

	static jmp_buf back;

	__attribute__((noinline)) int leaves(int x)
	{
		if (x == 1)
			longjmp(back, 1);
		return x;
	}

	int main(void)
	{
		if (setjmp(back) == 0)
			return leaves(1);
		return leaves(7);
	}
END
cc -O1 -fno-optimize-sibling-calls -o "$TMP/jumps" "$TMP/jumps.c" || fail "the program cannot be compiled"
expect_exit 7 "$KYMO" calls --direct --fast-returns --call "$TMP/jumps:leaves(int x) -> int" -- "$TMP/jumps"
assert_contains "$TMP/stdout" ' leaves\(1\) += \? \(unwound\)' "the call that was left"
assert_contains "$TMP/stdout" ' leaves\(7\) += 7 ' "the other one"

note "the part of a function that the compiler has moved away: it is jumped to"
cat >"$TMP/parts.c" <<-'END'
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>

	__attribute__((noinline, noreturn, cold)) void die(const char *text)
	{
		exit(strcmp(text, "number 5") == 0 ? 7 : 2);
	}

	__attribute__((noinline)) size_t work(int x)
	{
		char text[24]; /* it stands where a return address would */

		snprintf(text, sizeof(text), "number %d", x);
		if (x == 5)
			die(text);
		return strlen(text);
	}

	int main(void)
	{
		for (int i = 0; i < 10; i++)
			work(i);
	}
END
cc -O2 -o "$TMP/parts" "$TMP/parts.c" || fail "the program cannot be compiled"
nm "$TMP/parts" | grep ' work\.cold$' >/dev/null || note "this compiler has moved nothing away"
expect_exit 7 "$KYMO" calls --direct --fast-returns --call "$TMP/parts:work*" -- "$TMP/parts"
assert_contains "$TMP/stdout" ' work\(' "the function"
! grep -q 'work\.cold' "$TMP/stdout" || fail "its other part was recorded"

note "if it is forced"
# (main() returns on the stack where it began)
cc -O2 -pthread -o "$TMP/moves" "$TMP/moves.c"
expect_exit 7 "$KYMO" calls --direct --fast-returns --force-fast-returns --call "$TMP/moves:main" -- "$TMP/moves"
