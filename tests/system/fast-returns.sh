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
expect_exit 7 "$KYMO" calls --direct --call "$TMP/moves:moved(int x)" -- "$TMP/moves"

note "with return probes"
for stripped in no yes; do
	[ $stripped = no ] || strip --strip-unneeded "$TMP/moves"
	name=moved
	[ $stripped = no ] || name=_start
	expect_exit 125 "$KYMO" calls --direct --fast-returns --call "$TMP/moves:$name" -- "$TMP/moves"
	assert_contains "$TMP/stderr" 'moves uses [a-z]*context' "the reason"
	assert_says "$TMP/stderr" 'add --force-fast-returns' "what to do"
done

note "if it is forced"
# (main() returns on the stack where it began)
cc -O2 -pthread -o "$TMP/moves" "$TMP/moves.c"
expect_exit 7 "$KYMO" calls --direct --fast-returns --force-fast-returns --call "$TMP/moves:main" -- "$TMP/moves"
