/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait-pages-load: threads that wait until the input ends, with stacks of several pages of all
 * kinds. The names of functions tell the kind:
 *
 *	in_parent, in_child   pages that were written before a fork
 *	in_hidden             pages that the process must not use, from SIGUSR1 on. When it has made
 *	                      them so, the program prints "hidden".
 *	in_empty              pages that were never used
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

enum { BYTES = 12288 };

#define FUNCTION __attribute__((noinline)) static void

static void *stack;
static size_t stack_bytes;
static int never[2]; /* a pipe that nobody writes to */
static char unused;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static inline __attribute__((always_inline)) void wait_for_end(char *byte)
{
	while (read(STDIN_FILENO, byte, 1) > 0)
		;
}

FUNCTION in_empty(char *bytes)
{
	wait_for_end(bytes);
	__asm__ volatile("" : : : "memory");
}

FUNCTION above_empty(void)
{
	char bytes[BYTES];

	in_empty(bytes);
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

static void *empty_thread(void *arg)
{
	above_empty();
	return arg;
}

FUNCTION in_hidden(void)
{
	(void)!read(never[0], &unused, 1);
	__asm__ volatile("" : : : "memory");
}

FUNCTION above_hidden(void)
{
	char bytes[BYTES];

	memset(bytes, 1, sizeof(bytes));
	__asm__ volatile("" : : "r"(bytes) : "memory");
	in_hidden();
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

static void *hidden_thread(void *arg)
{
	above_hidden();
	return arg;
}

/* (the thread never uses its stack again) */
static void hide_stack(int number)
{
	static const char told[] = "hidden\n";

	(void)number;
	if (mprotect(stack, stack_bytes, PROT_NONE) == 0)
		(void)!write(STDOUT_FILENO, told, sizeof(told) - 1);
}

static void begin_threads(void)
{
	struct sigaction action = { .sa_handler = hide_stack, .sa_flags = SA_RESTART };
	pthread_attr_t attr;
	pthread_t thread;

	if (pthread_create(&thread, NULL, empty_thread, NULL) != 0 || pipe(never) < 0 ||
	    pthread_create(&thread, NULL, hidden_thread, NULL) != 0)
		die("begin threads");
	pthread_getattr_np(thread, &attr);
	pthread_attr_getstack(&attr, &stack, &stack_bytes);
	sigaction(SIGUSR1, &action, NULL);
}

FUNCTION in_parent(void)
{
	char byte;

	begin_threads();
	wait_for_end(&byte);
	__asm__ volatile("" : : : "memory");
}

FUNCTION in_child(void)
{
	char byte;

	wait_for_end(&byte);
	__asm__ volatile("" : : : "memory");
}

FUNCTION above_fork(void)
{
	char bytes[BYTES];

	memset(bytes, 1, sizeof(bytes));
	__asm__ volatile("" : : "r"(bytes) : "memory");
	if (fork() == 0)
		in_child();
	else
		in_parent();
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

int main(void)
{
	above_fork();
	return 0;
}
