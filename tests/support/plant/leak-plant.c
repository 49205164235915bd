/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leak-plant: allocates, frees and loses known blocks.
 *
 *	leak-plant [--held] [--then PROGRAM] PART ...
 *
 * Parts run in the given order; the last one runs in a child (fork). The lost blocks are printed as
 * a line of JSON: each stack by the names of its functions, innermost first, with the blocks and
 * bytes that were allocated there and not freed. With --held, it reads a byte on stdin before it
 * begins, another one where a child begins, one before PROGRAM is started with the same parts, and
 * waits for the end of stdin before it exits.
 *
 * It does not use stdio, which allocates. Threads have stacks of this program, so that the C
 * library frees its data of them. If "kept" is among the parts, lost blocks remain reachable.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leak-plant.h"

#pragma weak plant_news
#pragma weak plant_wide
#pragma weak plant_exceptions

#define HUGE_BYTES ((size_t)1 << 60)

struct planted {
	const char *chain; /* names, separated by commas */
	unsigned blocks;
	size_t bytes;
};

static struct planted planted[64];
static unsigned n_planted;
static unsigned unmatched; /* frees of blocks from before the recording */
static unsigned failed;    /* allocations */
static void *kept[4096];
static unsigned n_kept;
static bool held, keeps;
static char *const *arguments;

/* ---- the truth ---- */

void plant_truth(const char *chain, unsigned blocks, size_t bytes)
{
	for (unsigned i = 0; i < n_planted; i++) {
		if (strcmp(planted[i].chain, chain) == 0) {
			planted[i].blocks += blocks;
			planted[i].bytes += bytes;
			return;
		}
	}
	planted[n_planted++] = (struct planted){ chain, blocks, bytes };
}

void plant_keep(void *p)
{
	if (keeps)
		kept[n_kept++ % (sizeof(kept) / sizeof(kept[0]))] = p;
}

void plant_failed(void)
{
	failed++;
}

void plant_die(const char *what)
{
	if (write(2, what, strlen(what)) < 0 || write(2, "\n", 1) < 0)
		_exit(2);
	_exit(1);
}

static void say(const char *format, ...)
{
	static char text[16384];
	static size_t used;
	va_list ap;

	if (!format) {
		if (write(1, text, used) != (ssize_t)used)
			_exit(1);
		used = 0;
		return;
	}
	va_start(ap, format);
	used += (size_t)vsnprintf(text + used, sizeof(text) - used, format, ap);
	va_end(ap);
}

static void tell(void)
{
	say("{\"pid\": %d, \"unmatched\": %u, \"failed\": %u, \"leaks\": [", (int)getpid(),
	    unmatched, failed);
	for (unsigned i = 0; i < n_planted; i++)
		say("%s{\"chain\": \"%s\", \"blocks\": %u, \"bytes\": %zu}", i ? ", " : "",
		    planted[i].chain, planted[i].blocks, planted[i].bytes);
	say("]}\n");
	say(NULL);
}

static void wait_for_byte(void)
{
	char c;

	if (held && read(0, &c, 1) < 0)
		plant_die("leak-plant: nothing to read on stdin");
}

/* A size that the compiler does not know. */
static size_t size_of(size_t n)
{
	BARRIER(n);
	return n;
}

/* ---- lists: malloc(), and frees in order ---- */

static NOINLINE void *make_node(size_t n)
{
	void *p = malloc(size_of(n));

	BARRIER(p);
	return p;
}

static NOINLINE void plant_list(void)
{
	void *nodes[100];

	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < 100; i++)
			nodes[i] = make_node(48);
		for (unsigned i = 0; i < 100; i++) {
			if (i % 50 == round)
				plant_keep(nodes[i]);
			else
				free(nodes[i]);
		}
	}
	free(NULL);
	plant_truth("make_node,plant_list,main", 40, 40 * 48);
}

/* ---- realloc() ---- */

static NOINLINE void *grow_buffer(void *p, size_t n)
{
	p = realloc(p, size_of(n));
	BARRIER(p);
	return p;
}

static NOINLINE void plant_buffers(void)
{
	static const size_t sizes[] = { 16, 1000, 70000, 300000, 5000, 777 };
	size_t huge = size_of(HUGE_BYTES);

	for (unsigned i = 0; i < 5; i++) {
		void *p = NULL, *q;

		for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
			p = grow_buffer(p, sizes[k]);
		/* A failure leaves it unchanged. */
		q = grow_buffer(p, huge);
		if (q)
			plant_die("leak-plant: realloc() gave what nobody has");
		plant_failed();
		plant_keep(p);
	}
	for (unsigned i = 0; i < 30; i++)
		free(grow_buffer(grow_buffer(NULL, 100), 100 * i + 1));
	plant_truth("grow_buffer,plant_buffers,main", 5, 5 * 777);
}

/* Only the block of the last realloc() remains. */
static NOINLINE void *make_row(size_t n, size_t each)
{
	void *p = reallocarray(NULL, size_of(n), each);

	BARRIER(p);
	return p;
}

static NOINLINE void plant_rows(void)
{
	void *p;

	for (unsigned i = 0; i < 6; i++)
		plant_keep(make_row(11, 13));
	plant_truth("make_row,plant_rows,main", 6, 6 * 11 * 13);
	/* Some allocators free the block and return NULL; others return an empty block. */
	p = make_node(123);
	p = realloc(p, size_of(0));
	if (p)
		free(p);
}

/* ---- calloc(), and aligned blocks ---- */

static NOINLINE void *make_table(size_t n, size_t each)
{
	void *p = calloc(size_of(n), each);

	BARRIER(p);
	return p;
}

static NOINLINE void plant_tables(void)
{
	for (unsigned i = 0; i < 9; i++) {
		void *p = make_table(3, 33), *q = make_table(50000, 4);

		plant_keep(p);
		free(q);
	}
	plant_truth("make_table,plant_tables,main", 9, 9 * 99);
}

static NOINLINE void *align_posix(size_t align, size_t n)
{
	void *p = NULL;

	if (posix_memalign(&p, align, size_of(n)) != 0)
		p = NULL;
	BARRIER(p);
	return p;
}

static NOINLINE void *align_new(size_t align, size_t n)
{
	void *p = aligned_alloc(align, size_of(n));

	BARRIER(p);
	return p;
}

static NOINLINE void *align_old(size_t align, size_t n)
{
	void *p = memalign(align, size_of(n));

	BARRIER(p);
	return p;
}

static NOINLINE void plant_aligned(void)
{
	for (unsigned i = 0; i < 8; i++) {
		void *a = align_posix(64, 100), *b = align_new(128, 512), *c = align_old(4096, 77);

		if (((uintptr_t)a & 63) != 0 || ((uintptr_t)b & 127) != 0 ||
		    ((uintptr_t)c & 4095) != 0)
			plant_die("leak-plant: not aligned");
		plant_keep(a);
		if (i < 5)
			plant_keep(b);
		else
			free(b);
		if (i < 2)
			plant_keep(c);
		else
			free(c);
	}
	if (align_posix(64, HUGE_BYTES))
		plant_die("leak-plant: posix_memalign() gave what nobody has");
	plant_failed();
	plant_truth("align_posix,plant_aligned,main", 8, 8 * 100);
	plant_truth("align_new,plant_aligned,main", 5, 5 * 512);
	plant_truth("align_old,plant_aligned,main", 2, 2 * 77);
}

/* ---- blocks so large that an allocator maps them ---- */

static NOINLINE void *make_large(size_t n)
{
	void *p = malloc(size_of(n));

	if (p)
		memset(p, 1, 4096);
	return p;
}

static NOINLINE void plant_large(void)
{
	void *p;

	for (unsigned i = 0; i < 10; i++) {
		p = make_large(1 << 20);
		if (i < 3)
			plant_keep(p);
		else
			free(p);
	}
	p = make_large(3 << 20);
	p = realloc(p, size_of(5 << 20));
	free(p);
	if (malloc(size_of(HUGE_BYTES)))
		plant_die("leak-plant: malloc() gave what nobody has");
	plant_failed();
	plant_truth("make_large,plant_large,main", 3, 3 << 20);
}

/* ---- threads ---- */

enum { THREADS = 4, STACK_BYTES = 256 << 10 };

static void *from_threads[THREADS][30], *for_threads[THREADS][50];

static NOINLINE void *take_block(size_t n)
{
	void *p = malloc(size_of(n));

	BARRIER(p);
	return p;
}

static NOINLINE void *work_apart(void *arg)
{
	unsigned which = (unsigned)(uintptr_t)arg;

	for (unsigned i = 0; i < 30; i++)
		from_threads[which][i] = take_block(64 + which);
	for (unsigned i = 0; i < 50; i++)
		free(for_threads[which][i]);
	BARRIER(arg);
	return NULL;
}

static void run_thread(pthread_t *thread, void *(*fn)(void *), void *arg, void **ret_stack)
{
	void *stack =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;

	if (stack == MAP_FAILED || pthread_attr_init(&attr) != 0 ||
	    pthread_attr_setstack(&attr, stack, STACK_BYTES) != 0 ||
	    pthread_create(thread, &attr, fn, arg) != 0)
		plant_die("leak-plant: no thread");
	pthread_attr_destroy(&attr);
	*ret_stack = stack;
}

static NOINLINE void plant_threads(void)
{
	pthread_t threads[THREADS];
	void *stacks[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		for (unsigned k = 0; k < 50; k++)
			for_threads[i][k] = make_node(200);
		run_thread(&threads[i], work_apart, (void *)(uintptr_t)i, &stacks[i]);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		munmap(stacks[i], STACK_BYTES);
		/* The remaining blocks belong to ended threads. */
		for (unsigned k = 0; k < 25; k++)
			free(from_threads[i][k]);
		for (unsigned k = 25; k < 30; k++)
			plant_keep(from_threads[i][k]);
		memset(from_threads[i], 0, sizeof(from_threads[i]));
		memset(for_threads[i], 0, sizeof(for_threads[i]));
		plant_truth("take_block,work_apart", 5, 5 * (64 + i));
	}
}

/* ---- blocks from before the recording ---- */

static void *old[20];

static NOINLINE void make_old(void)
{
	for (unsigned i = 0; i < 20; i++)
		old[i] = make_node(500);
}

static NOINLINE void plant_old(void)
{
	for (unsigned i = 0; i < 15; i++)
		free(old[i]);
	unmatched += 15;
	/* Freed by a realloc() that makes a new block. */
	old[15] = grow_buffer(old[15], 9000);
	unmatched++;
	plant_truth("grow_buffer,plant_old,main", 1, 9000);
}

/* ---- jumps out of functions ---- */

static jmp_buf out;

static NOINLINE void jump_out(void)
{
	void *p = make_node(32);

	free(p);
	longjmp(out, 1);
}

static NOINLINE void plant_jumps(void)
{
	for (volatile unsigned i = 0; i < 3; i++)
		if (setjmp(out) == 0)
			jump_out();
	plant_keep(make_node(72));
	plant_truth("make_node,plant_jumps,main", 1, 72);
}

/* ---- fork ---- */

static NOINLINE void *make_inherited(size_t n)
{
	void *p = malloc(size_of(n));

	BARRIER(p);
	return p;
}

static NOINLINE void work_in_child(void)
{
	for (unsigned i = 0; i < 4; i++)
		plant_keep(make_inherited(90));
	plant_truth("make_inherited,work_in_child,plant_fork,main", 4, 4 * 90);
}

static NOINLINE void plant_fork(void)
{
	void *inherited[10];
	pid_t pid;
	int status;

	for (unsigned i = 0; i < 10; i++)
		inherited[i] = make_inherited(80);
	pid = fork();
	if (pid < 0)
		plant_die("leak-plant: no child");
	if (pid == 0) {
		n_planted = unmatched = failed = 0;
		wait_for_byte();
		for (unsigned i = 0; i < 6; i++)
			free(inherited[i]);
		unmatched = 6;
		work_in_child();
		tell();
		_exit(0);
	}
	/* The child frees its own. */
	for (unsigned i = 0; i < 3; i++)
		free(inherited[i]);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		plant_die("leak-plant: the child has died");
	plant_truth("make_inherited,plant_fork,main", 7, 7 * 80);
}

/* ---- the program ---- */

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{ "list", plant_list },
	{ "buffers", plant_buffers },
	{ "rows", plant_rows },
	{ "tables", plant_tables },
	{ "aligned", plant_aligned },
	{ "large", plant_large },
	{ "threads", plant_threads },
	{ "old", plant_old },
	{ "jumps", plant_jumps },
	{ "fork", plant_fork },
	{ "news", plant_news },
	{ "wide", plant_wide },
	{ "exceptions", plant_exceptions },
};

static bool has_part(const char *name)
{
	for (char *const *a = arguments; *a; a++)
		if (strcmp(*a, name) == 0)
			return true;
	return false;
}

/* Executes another program with the same parts. */
static void become(const char *program, char **wanted)
{
	char *all[32] = { (char *)program, (char *)"--held" };
	unsigned n = 1 + held;

	while (*wanted && n < sizeof(all) / sizeof(all[0]) - 1)
		all[n++] = *wanted++;
	all[n] = NULL;
	execv(program, all);
	plant_die("leak-plant: no such program to become");
}

int main(int argc, char **argv)
{
	const char *then = NULL;
	int at = 1;

	held = at < argc && strcmp(argv[at], "--held") == 0;
	at += held;
	if (at + 1 < argc && strcmp(argv[at], "--then") == 0) {
		then = argv[at + 1];
		at += 2;
	}
	arguments = argv + at;
	keeps = has_part("kept");
	if (has_part("old"))
		make_old();
	wait_for_byte();
	for (char *const *a = arguments; *a; a++)
		for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
			if (parts[i].run && strcmp(*a, parts[i].name) == 0)
				parts[i].run();
	tell();
	wait_for_byte();
	if (then)
		become(then, argv + at);
	return 0;
}
