/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures the current cost of system calls, for bench/resource-cost.
 *
 *	call-load ROUNDS
 *
 * For each line on its standard input, it makes ROUNDS of each kind of call, and prints the time of
 * one in ns: getppid(), dup() with close(), open() with close(), mmap() with munmap().
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t spent_ns(void)
{
	struct timespec t;

	/* CPU time of this process, which other load affects less. */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void ask_parent(void)
{
	syscall(SYS_getppid);
}

static void copy(void)
{
	close(dup(STDIN_FILENO));
}

static void open_file(void)
{
	close(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

static void map(void)
{
	munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
}

static double measure(void (*call)(void), unsigned long rounds)
{
	uint64_t begin_ns = spent_ns();

	for (unsigned long i = 0; i < rounds; i++)
		call();
	return (double)(spent_ns() - begin_ns) / (double)rounds;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	char line[16];

	if (rounds == 0)
		return 2;
	while (fgets(line, sizeof(line), stdin)) {
		printf("%.1f %.1f %.1f %.1f\n", measure(ask_parent, rounds), measure(copy, rounds),
		       measure(open_file, rounds), measure(map, rounds));
		fflush(stdout);
	}
	return 0;
}
