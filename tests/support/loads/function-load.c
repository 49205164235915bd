/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of each kind, for tests/system/function-calls.sh, which compiles it in several ways.
 *
 *	function-load all        every kind of argument, once
 *	function-load deep N     recursion, N deep; deep(n) returns n
 *	function-load threads    4 threads, each of which calls step() 1000 times
 *	function-load jump       20 times three calls that longjmp() leaves
 *	function-load fast N     quick(i) for i below N
 *	function-load files      opens /etc/hostname and reads it, and a missing file
 *	function-load guarded N  passes a static probe with a semaphore N times
 *	function-load late FILE  loads a library, calls its late_one() 10 times, and keeps it for
 *	                         a second
 *	function-load wait       waits until it is killed
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "static-probe.h"

#define CALLED __attribute__((noinline, noclone, externally_visible))

int8_t all_kinds(int8_t a, uint32_t b, bool c, const void *d, const char *e, const char *f);
long buffer(const char *bytes, size_t n, int fd, uint16_t small, long negative, uint64_t big);
int deep(int n);
int step(int n);
int quick(int n);
void jump_1(int n);
void jump_2(int n);
void jump_3(int n);

static jmp_buf back;
static volatile int sink;

CALLED int8_t all_kinds(int8_t a, uint32_t b, bool c, const void *d, const char *e, const char *f)
{
	sink += a + (int)b + c + (d != NULL) + *e + *f;
	return (int8_t)-a;
}

CALLED long buffer(const char *bytes, size_t n, int fd, uint16_t small, long negative, uint64_t big)
{
	sink += bytes[0] + (int)n + fd + small;
	return negative - (long)(big >> 52);
}

CALLED int deep(int n)
{
	int r = n == 0 ? 0 : deep(n - 1) + 1;

	sink = r; /* (without this, the compiler could make a loop of the recursion) */
	return r;
}

CALLED int step(int n)
{
	return sink += n, n + 1;
}

CALLED int quick(int n)
{
	return n ^ sink;
}

CALLED void jump_3(int n)
{
	sink = n;
	longjmp(back, n + 1);
}

CALLED void jump_2(int n)
{
	jump_3(n);
	sink++;
}

CALLED void jump_1(int n)
{
	jump_2(n);
	sink++;
}

static void *thread(void *arg)
{
	for (int i = 0; i < 1000; i++)
		step(i);
	return arg;
}

static void run_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void run_all(void)
{
	static char many[300];

	memset(many, 'x', sizeof(many) - 1);
	all_kinds(-128, 4000000000u, true, NULL, "text \"quoted\"\n", many);
	buffer("\0\1\377binary", 9, -1, 65535, -5000000000, UINT64_C(1) << 52);
}

/* Memory that ends at a page boundary, before the given number of bytes. */
static void run_page(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED || mprotect(page + 4096, 4096, PROT_NONE) < 0)
		return;
	memset(page, 'q', 4096);
	memcpy(page + 4092, "last", 4);
	for (size_t n = 8; n <= 10; n++)
		buffer(page + 4088, n, -1, 0, 0, 0);
	buffer(page + 4000, 4000, -1, 0, 0, 0);
	all_kinds(1, 0, false, NULL, page + 4090, page + 4091);
}

static void run_files(void)
{
	char data[1000];
	int fd = open("/etc/hostname", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, data, sizeof(data));

	sink += (int)n + open("/nonexistent/file", O_WRONLY | O_CREAT | O_EXCL, 0640);
	close(fd);
	/* numbers of system calls that kernels do not have, at least today */
	syscall(9999, 1, 2);
	syscall(0x40000000 | 9999);
	syscall(-1);
}

static int run_late(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*late)(int) = library ? (int (*)(int))dlsym(library, "late_one") : NULL;

	for (int i = 0; late && i < 10; i++)
		late(i);
	sleep(1);
	return late ? 0 : 1;
}

extern volatile unsigned short guarded_semaphore;
__attribute__((section(".probes"))) volatile unsigned short guarded_semaphore = 0;

__attribute__((noinline)) static void pass_guarded(int n)
{
	if (guarded_semaphore)
		PROBE("guarded", "guarded_semaphore", "-4@%0", "r"(n));
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "all") == 0)
		run_all();
	else if (strcmp(argv[1], "deep") == 0)
		return deep(n) == n ? 0 : 1;
	else if (strcmp(argv[1], "threads") == 0)
		run_threads();
	else if (strcmp(argv[1], "page") == 0)
		run_page();
	else if (strcmp(argv[1], "files") == 0)
		run_files();
	else if (strcmp(argv[1], "late") == 0)
		return run_late(argv[2]);
	else if (strcmp(argv[1], "wait") == 0)
		pause();
	else if (strcmp(argv[1], "guarded") == 0)
		for (int i = 0; i < n; i++)
			pass_guarded(i);
	else if (strcmp(argv[1], "fast") == 0)
		for (volatile int i = 0; i < n; i++)
			quick(i);
	else
		for (volatile int i = 0; i < 20; i++)
			if (setjmp(back) == 0)
				jump_1(i);
	return 0;
}
