/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leak-hostile: a program that is hard to watch.
 *
 *	leak-hostile --held bogus DIRECTORY   maps files in it that are almost programs
 *	leak-hostile --held untext            unmaps the code of its C library
 *	leak-hostile --held library FILE      loads and unloads FILE, a hundred times
 *	leak-hostile --held threads N         N threads that lose a block each
 *	leak-hostile --held children N        N children that end at once, after they have lost a
 *	                                      block
 *	leak-hostile --held churn N           loses 100 blocks, then allocates and frees on, in
 *	                                      N threads
 *	leak-hostile --held execs N           executes itself, N times
 *
 * Each waits for a byte on stdin before and after. It prints its lost blocks like leak-plant.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leak-plant.h"

enum { AT_ONCE = 50, STACK_BYTES = 64 << 10 };

static void die(const char *what)
{
	perror(what);
	_exit(1);
}

static void wait_for_byte(void)
{
	char c;

	if (read(0, &c, 1) < 0)
		die("stdin");
}

static void tell(const char *chain, unsigned blocks, size_t bytes)
{
	char text[512];
	int n = snprintf(text, sizeof(text),
			 "{\"pid\": %d, \"unmatched\": 0, \"failed\": 0, \"leaks\": "
			 "[{\"chain\": \"%s\", \"blocks\": %u, \"bytes\": %zu}]}\n",
			 (int)getpid(), chain, blocks, bytes);

	if (write(1, text, (size_t)n) != n)
		die("stdout");
}

static NOINLINE void *make_some(size_t n)
{
	void *p = malloc(n);

	BARRIER(p);
	return p;
}

/* ---- files that are almost programs ---- */

static void write_bogus(const char *path, unsigned kind)
{
	static uint8_t bytes[16384];
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	srand(kind);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)rand();
	header.e_phoff = kind % 2 ? 64 : UINT64_MAX - 7;
	header.e_phnum = kind % 3 ? 65535 : 3;
	header.e_shoff = kind % 5 ? 4096 : UINT64_MAX / 2;
	header.e_shnum = kind % 7 ? 65535 : 40;
	header.e_shstrndx = (uint16_t)kind;
	if (kind % 4)
		memcpy(bytes, &header, sizeof(header));
	if (fd < 0 || write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		die(path);
	close(fd);
}

static NOINLINE void do_bogus(const char *directory)
{
	char path[512];

	for (unsigned i = 0; i < 24; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/bogus-%u.so", directory, i);
		write_bogus(path, i);
		fd = open(path, O_RDONLY);
		if (mmap(NULL, 16384, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			die("mmap");
		close(fd);
		/* Some are removed, some are truncated. */
		if (i % 3 == 0)
			unlink(path);
		if (i % 3 == 1 && truncate(path, 100) < 0)
			die("truncate");
	}
	wait_for_byte();
	for (unsigned i = 0; i < 10; i++)
		make_some(77);
	tell("make_some,do_bogus,main", 10, 770);
}

/* ---- without a C library ---- */

#if defined(__x86_64__)
static inline __attribute__((always_inline)) long call3(long number, long a, long b, long c)
{
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return r;
}

static NOINLINE void do_untext(void)
{
	static const char done[] = "{\"gone\": true}\n";
	unsigned long start, end;
	char line[512], rights[8], c;
	FILE *maps;

	wait_for_byte();
	maps = fopen("/proc/self/maps", "re");
	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "/libc.so") &&
		    sscanf(line, "%lx-%lx %7s", &start, &end, rights) == 3 && rights[2] == 'x')
			break;
	/* From here on, no function can be called. */
	call3(SYS_munmap, (long)start, (long)(end - start), 0);
	call3(SYS_write, 1, (long)done, sizeof(done) - 1);
	call3(SYS_read, 0, (long)&c, 1);
	call3(SYS_exit_group, 0, 0, 0);
}
#endif

/* ---- libraries, threads, processes ---- */

static NOINLINE void do_library(const char *path)
{
	wait_for_byte();
	for (unsigned i = 0; i < 100; i++) {
		void *library = dlopen(path, RTLD_NOW);

		if (!library)
			die(path);
		make_some(31);
		dlclose(library);
	}
	tell("make_some,do_library,main", 100, 3100);
}

static NOINLINE void *work_apart(void *arg)
{
	void *a = make_some(10), *b = make_some(20);

	make_some(30);
	free(a);
	free(b);
	return arg;
}

static NOINLINE void do_threads(unsigned n)
{
	char *stacks = mmap(NULL, AT_ONCE * STACK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t threads[AT_ONCE];

	wait_for_byte();
	for (unsigned done = 0; done < n; done += AT_ONCE) {
		for (unsigned i = 0; i < AT_ONCE; i++) {
			pthread_attr_t attr;

			pthread_attr_init(&attr);
			pthread_attr_setstack(&attr, stacks + i * STACK_BYTES, STACK_BYTES);
			if (pthread_create(&threads[i], &attr, work_apart, NULL) != 0)
				die("pthread_create");
			pthread_attr_destroy(&attr);
		}
		for (unsigned i = 0; i < AT_ONCE; i++)
			pthread_join(threads[i], NULL);
	}
	tell("make_some,work_apart", n, (size_t)n * 30);
}

static NOINLINE void *churn_apart(void *arg)
{
	volatile int *over = arg;

	while (!*over) {
		void *p = make_some(100), *q = calloc(3, 40);

		p = realloc(p, 200);
		free(q);
		free(p);
	}
	return NULL;
}

static NOINLINE void do_churn(unsigned n)
{
	static volatile int over;
	pthread_t threads[AT_ONCE];

	wait_for_byte();
	for (unsigned i = 0; i < 100; i++)
		make_some(300);
	for (unsigned i = 0; i < n && i < AT_ONCE; i++)
		if (pthread_create(&threads[i], NULL, churn_apart, (void *)&over) != 0)
			die("pthread_create");
	tell("make_some,do_churn,main", 100, 30000);
	wait_for_byte();
	over = 1;
	for (unsigned i = 0; i < n && i < AT_ONCE; i++)
		pthread_join(threads[i], NULL);
}

static NOINLINE void do_children(unsigned n)
{
	wait_for_byte();
	for (unsigned i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			make_some(40);
			_exit(0);
		}
		if (pid < 0)
			die("fork");
		make_some(50);
		if (i % 100 == 99)
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
	}
	while (wait(NULL) > 0)
		;
	tell("make_some,do_children,main", n, (size_t)n * 50);
}

static NOINLINE void do_execs(const char *me, unsigned n)
{
	char left[16];

	if (n > 0) {
		snprintf(left, sizeof(left), "%u", n - 1);
		make_some(60);
		execl(me, me, "--again", "execs", left, (char *)NULL);
		die(me);
	}
	make_some(70);
	tell("make_some,do_execs,main", 1, 70);
}

int main(int argc, char **argv)
{
	const char *what = argc == 4 || argc == 3 ? argv[2] : "", *with = argc == 4 ? argv[3] : "";

	if (strcmp(what, "bogus") == 0)
		do_bogus(with);
	else if (strcmp(what, "library") == 0)
		do_library(with);
	else if (strcmp(what, "threads") == 0)
		do_threads((unsigned)atoi(with));
	else if (strcmp(what, "churn") == 0)
		do_churn((unsigned)atoi(with));
	else if (strcmp(what, "children") == 0)
		do_children((unsigned)atoi(with));
#if defined(__x86_64__)
	else if (strcmp(what, "untext") == 0)
		do_untext();
#endif
	else if (strcmp(what, "execs") == 0) {
		if (strcmp(argv[1], "--again") != 0)
			wait_for_byte();
		do_execs(argv[0], (unsigned)atoi(with));
	} else {
		return 2;
	}
	wait_for_byte();
	return 0;
}
