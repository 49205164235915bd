/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack-load: runs, and waits, with known call stacks.
 *
 *	stack-load chain MS        burns MS in three leaves under a chain of twelve, in about 5, 3
 *	                           and 2 parts; some of its functions are inlined into others
 *	stack-load deep MS         burns MS in stacks that are all different
 *	stack-load spin MS         burns MS
 *	stack-load burst N MS      N processes of this program, each of which burns MS; two at
 *	                           once
 *	stack-load library FILE MS loads FILE, after a while, waits in its function `library_wait`,
 *	                           and burns MS in its function `library_spin`
 *	stack-load libc MS         burns MS in the C library's memfrob(), or memfrpA() if it has
 *	                           that
 *	stack-load wait MS         threads that sleep, and wait for a futex, a pipe, and a page
 *	                           that another thread provides (userfaultfd, if allowed), for
 *	                           MS each time
 *	stack-load disk FILE       waits for pages of FILE that are not in memory
 *
 * It is built with frame pointers. System calls of the waits are in its own functions, since those
 * of the C library have no frame pointers. With --held, it waits for a byte on stdin before it
 * begins, and for its end before it exits. It prints the truth as JSON.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define INLINE   inline __attribute__((always_inline))

/* Prevents that a call becomes a jump. */
#define BARRIER __asm__ volatile("" ::: "memory")

/* Gives a leaf function a frame. Otherwise its caller would be missing in its stacks. */
#define FRAME __asm__ volatile("" : : "r"(__builtin_frame_address(0)) : "memory")

extern char **environ;

static const char *me;
static bool held;

static void die(const char *what)
{
	fprintf(stderr, "stack-load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t v = strtoull(text, &end, 10);

	if (end == text || *end)
		die(text);
	return v;
}

/* ---- burning ---- */

static volatile uint64_t sink;

#define LEAF(name)                                                                                 \
	NOINLINE void name(uint64_t n);                                                            \
	NOINLINE void name(uint64_t n)                                                             \
	{                                                                                          \
		for (uint64_t i = 0; i < n; i++)                                                   \
			sink += i;                                                                 \
		FRAME;                                                                             \
	}
LEAF(leaf_a)
LEAF(leaf_b)
LEAF(leaf_c)

enum { N_LEAVES = 3 };
static uint64_t leaf_ns[N_LEAVES]; /* their times */

/* Steps that take about 0.1 ms. */
static uint64_t leaf_steps;

static void calibrate(void)
{
	uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID), taken;

	leaf_a(2000000);
	taken = now_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	leaf_steps = 2000000 * UINT64_C(100000) / (taken ? taken : 1);
}

static INLINE void inlined_12(int i)
{
	static void (*const leaves[N_LEAVES])(uint64_t) = { leaf_a, leaf_b, leaf_c };
	static const uint64_t shares[N_LEAVES] = { 85, 51, 34 }; /* in step with no timer */
	uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID);

	leaves[i](shares[i] * leaf_steps);
	leaf_ns[i] += now_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

NOINLINE void chain_12(void);
NOINLINE void chain_12(void)
{
	for (int i = 0; i < N_LEAVES; i++)
		inlined_12(i);
	BARRIER;
}

#define CHAIN(name, next)                                                                          \
	NOINLINE void name(void);                                                                  \
	NOINLINE void name(void)                                                                   \
	{                                                                                          \
		next();                                                                            \
		BARRIER;                                                                           \
	}
#define CHAIN_INLINED(name, next)                                                                  \
	static INLINE void name(void)                                                              \
	{                                                                                          \
		next();                                                                            \
		BARRIER;                                                                           \
	}
CHAIN(chain_11, chain_12)
CHAIN(chain_10, chain_11)
CHAIN(chain_9, chain_10)
CHAIN(chain_8, chain_9)
CHAIN_INLINED(inlined_7, chain_8)
CHAIN_INLINED(inlined_7_too, inlined_7)
CHAIN(chain_7, inlined_7_too)
CHAIN(chain_6, chain_7)
CHAIN(chain_5, chain_6)
CHAIN(chain_4, chain_5)
CHAIN_INLINED(inlined_3, chain_4)
CHAIN(chain_3, inlined_3)
CHAIN(chain_2, chain_3)
CHAIN(chain_1, chain_2)

NOINLINE static void burn(uint64_t ms, void (*step)(void))
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		step();
}

NOINLINE void spin_step(void);
NOINLINE void spin_step(void)
{
	leaf_a(leaf_steps);
	BARRIER;
}

/*
 * The bits of a number choose which of the two functions calls which, so all stacks are different.
 */
NOINLINE void deep_even(uint32_t path, unsigned depth);
NOINLINE void deep_odd(uint32_t path, unsigned depth);

static INLINE void deep_go_on(uint32_t path, unsigned depth)
{
	if (depth == 0)
		leaf_a(leaf_steps / 8);
	else if (path & 1)
		deep_odd(path >> 1, depth - 1);
	else
		deep_even(path >> 1, depth - 1);
	BARRIER;
}

void deep_even(uint32_t path, unsigned depth)
{
	deep_go_on(path, depth);
}

void deep_odd(uint32_t path, unsigned depth)
{
	deep_go_on(path, depth);
}

static void deep_step(void)
{
	static uint32_t path;

	deep_even(path++ * 2654435761u, 24);
}

/* ---- processes, libraries ---- */

static void burst(uint64_t n, const char *ms)
{
	char *const argv[] = { (char *)(uintptr_t)me, (char *)(uintptr_t) "spin",
			       (char *)(uintptr_t)ms, NULL };
	uint64_t begun = 0, ended = 0;
	pid_t pid;

	while (ended < n) {
		if (begun < n && begun - ended < 2) {
			if (posix_spawn(&pid, me, NULL, NULL, argv, environ) != 0)
				die("posix_spawn");
			begun++;
		} else if (waitpid(-1, NULL, 0) > 0) {
			ended++;
		}
	}
}

/* The first wait in the library. */
#define LIBRARY_WAIT_MS 50

static void use_library(const char *file, uint64_t ms)
{
	const struct timespec while_ = { .tv_nsec = 100000000 };
	void (*spin)(uint64_t), (*wait)(uint64_t);
	void *library;

	nanosleep(&while_, NULL);
	library = dlopen(file, RTLD_NOW);
	spin = library ? (void (*)(uint64_t))dlsym(library, "library_spin") : NULL;
	wait = spin ? (void (*)(uint64_t))dlsym(library, "library_wait") : NULL;
	if (!wait)
		die(dlerror());
	wait(LIBRARY_WAIT_MS);
	spin(ms);
}

/* ---- the C library ---- */

static void use_libc(uint64_t ms)
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;
	void *(*frob)(void *, size_t);
	static char bytes[65536];

	frob = (void *(*)(void *, size_t))dlsym(RTLD_DEFAULT, "memfrpA");
	if (!frob)
		frob = (void *(*)(void *, size_t))dlsym(RTLD_DEFAULT, "memfrob");
	if (!frob)
		die("the C library has no memfrob");
	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		frob(bytes, sizeof(bytes));
}

/* ---- waiting ---- */

static long call(long nr, long a, long b, long c, long d)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return r;
#else
	return syscall((int)nr, a, b, c, d);
#endif
}

enum { WAITS = 20 };

static uint64_t wait_ms;
static uint32_t futex_word;
static int pipe_fds[2];
static int fault_fd = -1;
static volatile char *fault_pages; /* one for each wait; not mapped yet */
static struct waiter {
	const char *name;
	void (*wait)(void);
	uint64_t waited_ns; /* as measured here */
	uint64_t delay_ns;  /* its wait for a CPU, as counted by the kernel; 0 = not counted */
	pid_t tid;
	atomic_int begun; /* number of its waits that have begun */
	pthread_t thread;
} waiters[];

NOINLINE void wait_in_sleep(void);
NOINLINE void wait_in_sleep(void)
{
	struct timespec t = { .tv_nsec = (long)(wait_ms * 1000000) };

	call(SYS_nanosleep, (long)&t, 0, 0, 0);
	BARRIER;
}

NOINLINE void wait_in_futex(void);
NOINLINE void wait_in_futex(void)
{
	call(SYS_futex, (long)&futex_word, FUTEX_WAIT_PRIVATE, 0, 0);
	BARRIER;
}

NOINLINE void wait_in_read(void);
NOINLINE void wait_in_read(void)
{
	char byte;

	call(SYS_read, pipe_fds[0], (long)&byte, 1, 0);
	BARRIER;
}

NOINLINE void wait_in_fault(void);
NOINLINE void wait_in_fault(void)
{
	static long n;

	sink += (uint64_t)fault_pages[n++ * getpagesize()];
	FRAME;
}

static struct waiter waiters[] = {
	{ .name = "wait_in_sleep", .wait = wait_in_sleep },
	{ .name = "wait_in_futex", .wait = wait_in_futex },
	{ .name = "wait_in_read", .wait = wait_in_read },
	{ .name = "wait_in_fault", .wait = wait_in_fault },
};
enum { N_WAITERS = sizeof(waiters) / sizeof(waiters[0]) };
static int n_waiters = N_WAITERS; /* without the last one, if userfaultfd is not available */

static bool open_faults(void)
{
	const size_t bytes = WAITS * (size_t)getpagesize();
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register pages = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	pages.range.start = (uintptr_t)p;
	pages.range.len = bytes;
	fault_pages = p;
	fault_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	return fault_fd >= 0 && ioctl(fault_fd, UFFDIO_API, &api) == 0 &&
	       ioctl(fault_fd, UFFDIO_REGISTER, &pages) == 0;
}

/* Provides each page that a thread waits for. */
static void answer_fault(void)
{
	static char page[65536] __attribute__((aligned(65536)));
	struct uffd_msg msg;
	struct uffdio_copy copy = { .src = (uintptr_t)page };

	if (read(fault_fd, &msg, sizeof(msg)) != sizeof(msg))
		die("read userfaultfd");
	copy.len = (uint64_t)getpagesize();
	copy.dst = msg.arg.pagefault.address & ~(copy.len - 1);
	if (ioctl(fault_fd, UFFDIO_COPY, &copy) < 0)
		die("UFFDIO_COPY");
}

static uint64_t read_delay_ns(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "re");
	uint64_t ran, delay = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%" SCNu64 " %" SCNu64, &ran, &delay) != 2)
		delay = 0;
	fclose(f);
	return delay;
}

NOINLINE void *wait_often(void *userdata);
void *wait_often(void *userdata)
{
	struct waiter *w = userdata;

	w->tid = (pid_t)syscall(SYS_gettid);
	for (int i = 0; i < WAITS; i++) {
		uint64_t begin = now_ns(CLOCK_BOOTTIME);

		w->begun++;
		w->wait();
		w->waited_ns += now_ns(CLOCK_BOOTTIME) - begin;
	}
	w->delay_ns = read_delay_ns();
	BARRIER;
	return NULL;
}

/* True if W sleeps in its wait number N. W sleeps nowhere else. */
static bool waits_for(const struct waiter *w, int n)
{
	char path[64], line[256] = "";
	const char *name_end;
	FILE *f;

	if (w->begun != n)
		return false;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)w->tid);
	f = fopen(path, "re");
	if (!f)
		die(path);
	if (!fgets(line, sizeof(line), f))
		die(path);
	fclose(f);
	name_end = strrchr(line, ')');
	return name_end && strncmp(name_end, ") S", 3) == 0;
}

static void wait_all(uint64_t ms)
{
	const struct timespec little = { .tv_nsec = 1000000 };
	const struct timespec t = { .tv_nsec = (long)(ms * 1000000) };

	wait_ms = ms;
	if (pipe(pipe_fds) < 0)
		die("pipe");
	if (!open_faults())
		n_waiters--;
	for (int i = 0; i < n_waiters; i++)
		if (pthread_create(&waiters[i].thread, NULL, wait_often, &waiters[i]) != 0)
			die("pthread_create");
	for (int i = 0; i < WAITS; i++) {
		/* (a thread that begins its wait late, on a busy machine, would wait for less than
		 * MS; the first thread sleeps for MS by itself) */
		for (int k = 1; k < n_waiters; k++)
			while (!waits_for(&waiters[k], i + 1))
				nanosleep(&little, NULL);
		nanosleep(&t, NULL);
		syscall(SYS_futex, &futex_word, FUTEX_WAKE_PRIVATE, 1);
		if (write(pipe_fds[1], "", 1) != 1)
			die("write");
		if (n_waiters == N_WAITERS)
			answer_fault();
	}
	for (int i = 0; i < n_waiters; i++)
		if (pthread_join(waiters[i].thread, NULL) != 0)
			die("pthread_join");
}

/* ---- waiting for a disk ---- */

static uint64_t n_disk_faults, n_disk_waits;

NOINLINE void wait_on_disk(const volatile char *page);
NOINLINE void wait_on_disk(const volatile char *page)
{
	sink += (uint64_t)*page;
	FRAME;
}

NOINLINE static void read_pages(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct rusage before, after;
	struct stat st;
	const char *map;

	if (fd < 0 || fstat(fd, &st) < 0)
		die(path);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED ||
	    madvise((void *)(uintptr_t)map, (size_t)st.st_size, MADV_RANDOM) < 0)
		die("mmap");
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	getrusage(RUSAGE_SELF, &before);
	for (off_t at = 0; at < st.st_size; at += 65536)
		wait_on_disk(map + at);
	getrusage(RUSAGE_SELF, &after);
	n_disk_faults = (uint64_t)(after.ru_majflt - before.ru_majflt);
	n_disk_waits = (uint64_t)(after.ru_nvcsw - before.ru_nvcsw);
}

static void print_truth(void)
{
	printf("{\"pid\": %d, \"cpu_ns\": %" PRIu64 ", \"leaf_ns\": [%" PRIu64 ", %" PRIu64
	       ", %" PRIu64 "], \"disk_faults\": %" PRIu64 ", \"disk_waits\": %" PRIu64
	       ", \"waits\": [",
	       (int)getpid(), now_ns(CLOCK_PROCESS_CPUTIME_ID), leaf_ns[0], leaf_ns[1], leaf_ns[2],
	       n_disk_faults, n_disk_waits);
	for (int i = 0; wait_ms && i < n_waiters; i++)
		printf("%s{\"name\": \"%s\", \"tid\": %d, \"n\": %d, \"ns\": %" PRIu64
		       ", \"delay_ns\": %" PRIu64 "}",
		       i ? ", " : "", waiters[i].name, (int)waiters[i].tid, WAITS,
		       waiters[i].waited_ns, waiters[i].delay_ns);
	puts("]}");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char byte;

	me = argv[0];
	if (argc > 1 && strcmp(argv[1], "--held") == 0) {
		held = true;
		argv++;
		argc--;
	}
	if (argc < 3)
		die("which load?");
	calibrate();
	if (held && read(0, &byte, 1) < 0)
		die("read");
	if (strcmp(argv[1], "chain") == 0)
		burn(number(argv[2]), chain_1);
	else if (strcmp(argv[1], "deep") == 0)
		burn(number(argv[2]), deep_step);
	else if (strcmp(argv[1], "spin") == 0)
		burn(number(argv[2]), spin_step);
	else if (strcmp(argv[1], "burst") == 0 && argc > 3)
		burst(number(argv[2]), argv[3]);
	else if (strcmp(argv[1], "library") == 0 && argc > 3)
		use_library(argv[2], number(argv[3]));
	else if (strcmp(argv[1], "libc") == 0)
		use_libc(number(argv[2]));
	else if (strcmp(argv[1], "wait") == 0)
		wait_all(number(argv[2]));
	else if (strcmp(argv[1], "disk") == 0)
		read_pages(argv[2]);
	else
		die(argv[1]);
	if (strcmp(argv[1], "spin") != 0)
		print_truth();
	while (held && read(0, &byte, 1) > 0)
		;
	return 0;
}
