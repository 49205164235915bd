/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The load for tests of reachability: blocks with known references. Each kind has its own size, and
 * N blocks.
 *
 *	reach-load plant N      waits for a line, allocates, prints "{}" and sleeps
 *	reach-load many N SIZE  plants N reachable blocks of SIZE bytes in a chain, and sleeps
 *	reach-load grow MS SIZE [share]
 *	                        leaks SIZE bytes each MS milliseconds; with "share", another process
 *	                        shares its memory
 *
 * Each size is less than the room that the allocator reserves, so that the allocator's own pointers
 * to the end of a block do not point into it.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PLANT __attribute__((noinline))

enum { PLACES = 64 };

struct link {
	struct link *next;
};

static void *globals[PLACES];
static void *insides[PLACES];
static _Thread_local void *locals[PLACES];
static struct link *chain;
static void **mapped;
static void **own; /* from sbrk() */
static unsigned n;

static void wait_for_line(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

static int sleep_in_child(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pause();
	return 0;
}

/* Starts a process that shares the memory of this process, and ends with this process. */
static void share(void)
{
	static char stack[16384] __attribute__((aligned(16)));

	if (clone(sleep_in_child, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL) < 0)
		_exit(1);
}

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

PLANT static struct link *make_chain(unsigned length, size_t size)
{
	struct link *first = NULL;

	for (unsigned i = 0; i < length; i++) {
		struct link *link = calloc(1, size);

		link->next = first;
		first = link;
	}
	return first;
}

/* An unreachable ring of blocks. */
PLANT static void lose_cycle(void)
{
	struct link *first = make_chain(n, 320), *last = first;

	while (last->next)
		last = last->next;
	last->next = first;
}

PLANT static void lose(void)
{
	for (unsigned i = 0; i < n; i++)
		*(char *)malloc(200) = 1;
}

/* The contents of freed blocks still point to blocks. */
PLANT static void lose_behind_freed(void)
{
	void **freed = calloc(PLACES, 2 * sizeof(*freed));

	for (unsigned i = 0; i < n; i++)
		freed[PLACES + i] = malloc(160);
	free(freed);
}

PLANT static void plant(void)
{
	for (unsigned i = 0; i < n; i++) {
		globals[i] = malloc(240);
		insides[i] = (char *)malloc(280) + 16;
		mapped[i] = malloc(400);
		locals[i] = malloc(480);
		own[i] = malloc(800);
	}
	chain = make_chain(n, 560);
	lose();
	lose_cycle();
	lose_behind_freed();
}

PLANT static void grow(size_t size)
{
	memset(malloc(size), 1, size);
}

/* Overwrites old values on the stack and in registers. */
PLANT static void scrub(void)
{
	volatile char room[65536];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

static void *sleep_in_thread(void *unused)
{
	void *volatile on_stack[PLACES] = { 0 };

	for (unsigned i = 0; i < n; i++)
		on_stack[i] = malloc(640);
	locals[0] = malloc(720);
	scrub();
	say("{}\n");
	for (;;)
		pause();
	return on_stack[0] ? unused : NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	size_t size;

	n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	if (argc == 4 && strcmp(argv[1], "many") == 0) {
		size = strtoul(argv[3], NULL, 10);
		wait_for_line();
		chain = make_chain(n, size > sizeof(*chain) ? size : sizeof(*chain));
		say("{}\n");
	} else if (argc >= 4 && n > 0 && strcmp(argv[1], "grow") == 0) {
		size = strtoul(argv[3], NULL, 10);
		if (argc == 5)
			share();
		for (;;) {
			grow(size);
			usleep(n * 1000);
		}
	} else if (argc == 3 && n > 0 && n <= PLACES && strcmp(argv[1], "plant") == 0) {
		own = sbrk(4096);
		mapped = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
		wait_for_line();
		plant();
		scrub();
		pthread_create(&thread, NULL, sleep_in_thread, NULL);
	} else {
		fprintf(stderr, "reach-load: see the head of reach-load.c\n");
		return 2;
	}
	for (;;)
		pause();
}
