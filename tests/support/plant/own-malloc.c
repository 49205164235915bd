/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own-malloc [--held]: a program with its own allocator, which does unusual things: it calls itself
 * deeper than the kernel keeps return probes, ends by longjmp, and is called from signal handlers
 * that interrupt it.
 *
 * The lost blocks are printed like those of leak-plant.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "leak-plant.h"

enum {
	DEEP = 5000,    /* from this size on, malloc() calls itself with a byte less */
	NESTED = 200,   /* the depth */
	JUMPS = 7777,   /* does not return */
	SIGNALS = 8888, /* is interrupted */
};

static char arena[8 << 20] __attribute__((aligned(16)));
static size_t used;
static jmp_buf away;
static void *from_handler;

static void *take(size_t n)
{
	char *p = arena + used;

	used += (n + 31) & ~(size_t)15;
	if (used > sizeof(arena))
		return NULL;
	memcpy(p, &n, sizeof(n));
	return p + 16;
}

NOINLINE void *malloc(size_t n)
{
	void *p;

	if (n > DEEP && n <= DEEP + NESTED) {
		p = malloc(n - 1);
		BARRIER(p);
		return p;
	}
	if (n == JUMPS)
		longjmp(away, 1);
	if (n == SIGNALS)
		raise(SIGUSR1);
	return take(n);
}

NOINLINE void free(void *p)
{
	BARRIER(p);
}

NOINLINE void *calloc(size_t n, size_t each)
{
	return malloc(n * each);
}

NOINLINE void *realloc(void *p, size_t n)
{
	void *q = malloc(n);
	size_t old;

	if (q && p) {
		memcpy(&old, (char *)p - 16, sizeof(old));
		memcpy(q, p, old < n ? old : n);
		free(p);
	}
	return q;
}

static void on_signal(int number)
{
	(void)number;
	from_handler = malloc(333);
}

static NOINLINE void *make_deep(size_t n)
{
	void *p = malloc(n);

	BARRIER(p);
	return p;
}

static NOINLINE void *make_more(void *p, size_t n)
{
	p = realloc(p, n);
	BARRIER(p);
	return p;
}

static NOINLINE void jump_from_malloc(void)
{
	void *p;

	for (volatile int i = 0; i < 150; i++) {
		if (setjmp(away) == 0) {
			p = malloc(JUMPS);
			BARRIER(p);
		}
	}
}

static NOINLINE void work(void)
{
	for (int i = 0; i < 20; i++) {
		void *p = make_deep(DEEP + NESTED);

		if (i >= 6)
			free(p);
		jump_from_malloc();
	}
	for (int i = 0; i < 5; i++)
		make_more(make_more(NULL, 100), 200);
	signal(SIGUSR1, on_signal);
	/* (a handler's allocation within malloc() counts as a part of that malloc()) */
	for (int i = 0; i < 4; i++) {
		make_deep(SIGNALS);
		BARRIER(from_handler);
		free(from_handler);
	}
}

static char text[512];

static void put(const char *words)
{
	strcat(text, words);
}

static void put_number(uint64_t n)
{
	char digits[32] = "";
	char *p = digits + sizeof(digits) - 1;

	do
		*--p = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	put(p);
}

int main(int argc, char **argv)
{
	int held = argc > 1 && strcmp(argv[1], "--held") == 0;
	char c;

	if (held && read(0, &c, 1) < 0)
		return 1;
	work();
	put("{\"pid\": ");
	put_number((uint64_t)getpid());
	put(", \"unmatched\": 4, \"failed\": 0, \"leaks\": ["
	    "{\"chain\": \"make_deep,work,main\", \"blocks\": 10, \"bytes\": ");
	put_number(6 * (DEEP + NESTED) + 4 * SIGNALS);
	put("}, {\"chain\": \"make_more,work,main\", \"blocks\": 5, \"bytes\": 1000}]}\n");
	if (write(1, text, strlen(text)) < 0 || (held && read(0, &c, 1) < 0))
		return 1;
	return 0;
}
