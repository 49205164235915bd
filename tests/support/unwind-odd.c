/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind-odd WHAT MS [FILE FILE]: burns MS under burn(), called by main(), in code that is of an odd kind:
 *
 *	vdso       clock_gettime(), again and again
 *	deleted    its own, after its file was deleted
 *	memfd      its own, in a file that has no name at all (it begins itself anew)
 *	libraries  turn() of two libraries, the FILEs, in turn, at the same address: one is loaded when the other one
 *	           is not any more
 *
 * tests/system/unwind-files.sh builds it without frame pointers.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define BARRIER  __asm__ volatile("" ::: "memory")

extern char **environ;

static volatile uint64_t sink;
static char *const *files;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

NOINLINE void leaf(void);
void leaf(void)
{
	for (unsigned i = 0; i < 100000; i++)
		sink += i;
	BARRIER;
}

NOINLINE void ask_time(void);
void ask_time(void)
{
	for (unsigned i = 0; i < 10000; i++)
		sink += now_ns(CLOCK_MONOTONIC);
	BARRIER;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

NOINLINE void take_turns(void);
void take_turns(void)
{
	for (int i = 0; i < 2; i++) {
		void *library = dlopen(files[i], RTLD_NOW);
		void (*turn)(void);

		turn = library ? (void (*)(void))dlsym(library, "turn") : NULL;
		if (!turn)
			die(files[i]);
		turn();
		dlclose(library);
	}
	BARRIER;
}

NOINLINE void burn(uint64_t ns, void (*step)(void));
void burn(uint64_t ns, void (*step)(void))
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		step();
	BARRIER;
}

static void begin_in_memory(char **argv)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = memfd_create("odd", MFD_CLOEXEC);
	struct stat st;

	if (from < 0 || to < 0 || fstat(from, &st) < 0 ||
	    sendfile(to, from, NULL, (size_t)st.st_size) != st.st_size)
		die("memfd");
	argv[1] = (char *)(uintptr_t) "plain";
	fexecve(to, argv, environ);
	die("fexecve");
}

int main(int argc, char **argv)
{
	uint64_t ns = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000 : 0;
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "memfd") == 0)
		begin_in_memory(argv);
	if (strcmp(what, "deleted") == 0 && unlink(argv[0]) < 0)
		die(argv[0]);
	if (strcmp(what, "libraries") == 0 && argc < 5)
		return 1;
	files = argv + 3;
	if (strcmp(what, "vdso") == 0)
		burn(ns, ask_time);
	else if (strcmp(what, "libraries") == 0)
		burn(ns, take_turns);
	else
		burn(ns, leaf);
	return 0;
}
