/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The load for tests of leaks: allocations whose later fate is known.
 *
 *	memory-load work N      leaks known blocks, N times, among work without leaks
 *	memory-load steps N     leaks N blocks and a descriptor for each line, four times
 *	memory-load children    a child that inherits blocks, and one that calls exec
 *	memory-load grown       the program of that exec
 *	memory-load pairs N     the time of malloc() and free(), in ns: the best of a hundred
 *	                        times N
 *	memory-load patched PID the number of bytes of code that differ from the files
 *
 * It waits for a line from its input before each step, and prints its actions in JSON. It uses no
 * function of stdio, since those allocate.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLANT __attribute__((noinline))

enum { BEFORE = 10, PASSED = 50, PAIRS_KEPT = 1024 };

static void *volatile kept; /* prevents that it is optimized away */
static void *before[BEFORE];
static void *passed[PASSED];

static void say(const char *format, ...)
{
	char text[512];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (write(STDOUT_FILENO, text, (size_t)n) < 0)
		_exit(1);
}

/* Reads the next line, or exits at the end. */
static void wait_for_line(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

/* ---- leaks: each has its own size ---- */

PLANT static void leak_malloc(void)
{
	kept = malloc(101);
}

PLANT static void leak_calloc(void)
{
	kept = calloc(3, 41);
}

PLANT static void leak_grown(void)
{
	void *p = malloc(10);

	kept = p;
	kept = realloc(p, 2003);
}

PLANT static void leak_aligned(void)
{
	void *p;

	if (posix_memalign(&p, 256, 307) == 0)
		kept = p;
	kept = aligned_alloc(64, 128);
	kept = memalign(4096, 53);
}

/* A failed realloc() leaves the block allocated. */
PLANT static void leak_not_grown(size_t too_much)
{
	void *p = malloc(79);

	kept = p;
	if (realloc(p, too_much))
		_exit(1);
}

PLANT static void leave_nothing(size_t too_much)
{
	void *p = malloc(33), *q;

	kept = p;
	free(p);
	p = malloc(64);
	kept = p;
	if (realloc(p, too_much))
		_exit(1);
	q = realloc(p, 100000);
	kept = q;
	free(q);
	p = calloc(7, 7);
	kept = p;
	/* (C does not define realloc() with size 0; glibc frees the block) */
	kept = realloc(p, 0);
	p = reallocarray(NULL, 10, 10);
	kept = p;
	free(p);
	free(NULL);
}

PLANT static void leak_in_thread(void)
{
	kept = malloc(207);
}

static void *be_thread(void *n)
{
	for (int i = 0; i < *(int *)n; i++)
		leak_in_thread();
	for (int i = 0; i < PASSED; i++)
		passed[i] = malloc(55);
	return NULL;
}

PLANT static int work(int n)
{
	/* A size beyond the address space. The compiler does not know it. */
	size_t too_much = (size_t)1 << (60 + (n > 0));
	pthread_t thread;

	for (int i = 0; i < BEFORE; i++)
		before[i] = malloc(1000 + (size_t)i);
	say("{\"pid\": %d, ", getpid());
	wait_for_line();
	for (int i = 0; i < BEFORE; i++)
		free(before[i]);
	for (int i = 0; i < n; i++) {
		leak_malloc();
		if (i % 2 == 0)
			leak_calloc();
		if (i % 5 == 0)
			leak_grown();
		if (i % 10 == 0)
			leak_aligned();
		if (i % 4 == 0)
			leak_not_grown(too_much);
		leave_nothing(too_much);
	}
	if (pthread_create(&thread, NULL, be_thread, &n) != 0)
		return 1;
	pthread_join(thread, NULL);
	for (int i = 0; i < PASSED; i++)
		free(passed[i]);
	say("\"unmatched\": %d, \"failed\": %d, \"leak_malloc\": %d, \"leak_calloc\": %d, "
	    "\"leak_grown\": %d, \"leak_aligned\": %d, \"leak_not_grown\": %d, \"leak_in_thread\": %d}\n",
	    BEFORE, n + (n + 3) / 4, n, (n + 1) / 2, (n + 4) / 5, (n + 9) / 10, (n + 3) / 4, n);
	wait_for_line();
	return 0;
}

/* ---- step by step ---- */

PLANT static void leak_step(int n)
{
	for (int i = 0; i < n; i++)
		leak_malloc();
	if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
		_exit(1);
}

PLANT static int steps(int n)
{
	for (int step = 1; step <= 4; step++) {
		wait_for_line();
		leak_step(n);
		say("%d\n", step);
	}
	wait_for_line();
	return 0;
}

/* ---- children ---- */

PLANT static void leak_in_child(void)
{
	kept = malloc(222);
}

PLANT static void leak_before_exec(void)
{
	kept = malloc(333);
}

PLANT static void leak_in_grown(void)
{
	kept = malloc(444);
}

PLANT static int grown(void)
{
	for (int i = 0; i < 7; i++)
		leak_in_grown();
	wait_for_line();
	return 0;
}

PLANT static int children(void)
{
	pid_t first, second;

	wait_for_line();
	for (int i = 0; i < BEFORE; i++)
		before[i] = malloc(500);
	first = fork();
	if (first == 0) {
		wait_for_line();
		for (int i = 0; i < 3; i++)
			free(before[i]);
		for (volatile int i = 0; i < 4; i++)
			leak_in_child();
		_exit(0);
	}
	waitpid(first, NULL, 0);
	for (int i = 0; i < BEFORE; i++)
		free(before[i]);
	second = fork();
	if (second == 0) {
		wait_for_line();
		for (volatile int i = 0; i < 2; i++)
			leak_before_exec();
		execl("/proc/self/exe", "memory-load", "grown", (char *)NULL);
		_exit(1);
	}
	waitpid(second, NULL, 0);
	say("{\"pid\": %d, \"first\": %d, \"second\": %d}\n", getpid(), first, second);
	wait_for_line();
	return 0;
}

/* ---- cost ---- */

/* Returns the CPU time of this process, in which other processes do not count. */
static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

PLANT static void *allocate(size_t n)
{
	return malloc(n);
}

static int pairs(uint64_t n)
{
	static void *ring[PAIRS_KEPT];
	uint64_t best_ns = UINT64_MAX;

	wait_for_line();
	for (int round = 0; round < 100; round++) {
		uint64_t begin_ns = now_ns(), took_ns;

		for (uint64_t i = 0; i < n; i++) {
			void **slot = &ring[i % PAIRS_KEPT];

			free(*slot);
			*slot = allocate(16 + i % 512);
		}
		took_ns = now_ns() - begin_ns;
		if (took_ns < best_ns)
			best_ns = took_ns;
	}
	say("%" PRIu64 "\n", best_ns / n);
	return 0;
}

/* ---- probes ---- */

static uint64_t count_patched(pid_t pid, uint64_t start, uint64_t end, uint64_t offset)
{
	static uint8_t code[65536], file[65536];
	char path[96];
	uint64_t n = 0;
	int mem, map;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, start, end);
	map = open(path, O_RDONLY | O_CLOEXEC);
	for (uint64_t at = start; mem >= 0 && map >= 0 && at < end; at += sizeof(code)) {
		size_t size = end - at < sizeof(code) ? end - at : sizeof(code);
		ssize_t have = pread(mem, code, size, (off_t)at);
		ssize_t want = pread(map, file, size, (off_t)(offset + at - start));

		for (ssize_t i = 0; i < have && i < want; i++)
			n += code[i] != file[i];
	}
	close(mem);
	close(map);
	return n;
}

static int patched(pid_t pid)
{
	uint64_t start, end, offset, n = 0, bytes = 0;
	char path[64], line[4352], mode[8];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return 1;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &start, &end, mode,
			   &offset) != 4 ||
		    mode[2] != 'x' || !strchr(line, '/'))
			continue;
		n += count_patched(pid, start, end, offset);
		bytes += end - start;
	}
	fclose(f);
	say("%" PRIu64 "\n", n);
	return bytes == 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (argc == 3 && strcmp(what, "work") == 0)
		return work(atoi(argv[2]));
	if (argc == 3 && strcmp(what, "steps") == 0)
		return steps(atoi(argv[2]));
	if (argc == 2 && strcmp(what, "children") == 0)
		return children();
	if (argc == 2 && strcmp(what, "grown") == 0)
		return grown();
	if (argc == 3 && strcmp(what, "pairs") == 0)
		return pairs(strtoull(argv[2], NULL, 10));
	if (argc == 3 && strcmp(what, "patched") == 0)
		return patched(atoi(argv[2]));
	return 2;
}
