/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo-load: causes scheduling events on purpose, and reports exactly which.
 *
 * System tests record the machine while this program runs, and compare the archive with its output:
 * one JSON object on stdout (or in --out FILE), the truth. Thread ids are those of the initial pid
 * namespace, so the tests run there. Names, counts and CPU times come from the kernel's accounting
 * (getrusage, /proc), which counts the same switches that the tracepoints report.
 *
 * With --held, a load can be wholly inside a recording that filters by pid. The program waits for a
 * byte on stdin before it begins, and, after it has printed the truth, for the end of stdin before
 * it exits. In both waits it sleeps and causes no event.
 *
 * Linux only; no privileges needed. Errors are fatal: die() prints them.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/loads/load.h"

struct load_options opt = { .cpu = -1, .waker_cpu = -1, .life_us = 1000, .at_once = 4, .tag = "" };

/* ---- helpers ---- */

void die(const char *format, ...)
{
	int error = errno;
	va_list ap;

	fputs("kymo-load: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	if (error)
		fprintf(stderr, ": %s", strerror(error));
	fputc('\n', stderr);
	exit(1);
}

uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

void sleep_us(uint64_t us)
{
	struct timespec t = {
		.tv_sec = (time_t)(us / 1000000),
		.tv_nsec = (long)(us % 1000000 * NSEC_PER_USEC),
	};

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

void burn_ns(uint64_t ns)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + ns;

	while (now_ns(CLOCK_MONOTONIC) < end)
		;
}

pid_t my_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

void set_name(const char *name)
{
	prctl(PR_SET_NAME, name);
}

void pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		die("cannot run on CPU %d", cpu);
}

uint64_t number(const char *text)
{
	char *end;
	uint64_t v;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-') {
		errno = 0;
		die("'%s' is not a number", text);
	}
	return v;
}

void *shared_memory(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("cannot map %zu bytes", bytes);
	return p;
}

void start_thread(pthread_t *t, void *(*fn)(void *), void *arg)
{
	errno = pthread_create(t, NULL, fn, arg);
	if (errno)
		die("cannot create a thread");
}

/* ---- --held ---- */

void hold_begin(void)
{
	char c;

	if (opt.held && read(STDIN_FILENO, &c, 1) != 1)
		die("nobody said when to begin");
}

void hold_end(void)
{
	char c;

	fflush(stdout);
	if (opt.held)
		while (read(STDIN_FILENO, &c, 1) > 0)
			;
}

/* ---- the kernel's data of a thread ---- */

int open_task_file(pid_t tid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("cannot open %s", path);
	return fd;
}

static void read_text(int fd, char *text, size_t room)
{
	ssize_t n = pread(fd, text, room - 1, 0);

	if (n < 0)
		die("cannot read in /proc");
	text[n] = 0;
}

/* The number after the first LABEL in TEXT; 0 without a LABEL. */
static uint64_t field(const char *text, const char *label)
{
	const char *p = strstr(text, label);

	return p ? strtoull(p + strlen(label), NULL, 10) : 0;
}

void read_status(int fd, struct thread_table *b)
{
	char text[4096];
	const char *state;

	read_text(fd, text, sizeof(text));
	state = strstr(text, "\nState:\t");
	b->state = state ? state[8] : '?';
	b->nvcsw = field(text, "\nvoluntary_ctxt_switches:\t");
	b->nivcsw = field(text, "\nnonvoluntary_ctxt_switches:\t");
}

void read_books(pid_t tid, struct thread_table *b)
{
	int status = open_task_file(tid, "status");
	int schedstat = open_task_file(tid, "schedstat");
	char text[128], *rest;

	read_status(status, b);
	read_text(schedstat, text, sizeof(text));
	b->cpu_ns = strtoull(text, &rest, 10);
	b->wait_ns = strtoull(rest, NULL, 10);
	close(status);
	close(schedstat);
}

uint64_t my_nvcsw(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return (uint64_t)u.ru_nvcsw;
}

uint64_t steal_ns(void)
{
	unsigned long long v[8] = { 0 };
	FILE *f = fopen("/proc/stat", "re");

	if (!f || fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2],
			 &v[3], &v[4], &v[5], &v[6], &v[7]) < 7)
		die("cannot read /proc/stat");
	fclose(f);
	return v[7] * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
}

void wait_asleep(pid_t tid, struct thread_table *b)
{
	int fd = open_task_file(tid, "status");

	do {
		sleep_us(500);
		read_status(fd, b);
	} while (b->state != 'S');
	close(fd);
}

void print_thread(const char *key, pid_t tid, const struct thread_table *b)
{
	printf("\"%s\": {\"tid\": %d, \"cpu_ns\": %llu, \"wait_ns\": %llu, \"nvcsw\": %llu, "
	       "\"nivcsw\": %llu}",
	       key, (int)tid, (unsigned long long)b->cpu_ns, (unsigned long long)b->wait_ns,
	       (unsigned long long)b->nvcsw, (unsigned long long)b->nivcsw);
}

/* ---- spin, clock ---- */

static int load_spin(char **argv)
{
	uint64_t ms = number(argv[0]);

	pin(opt.cpu);
	hold_begin();
	burn_ns(ms * 1000 * NSEC_PER_USEC);
	printf("{\"load\": \"spin\", \"pid\": %d, \"ms\": %llu}\n", (int)getpid(),
	       (unsigned long long)ms);
	hold_end();
	return 0;
}

static int load_clock(char **argv)
{
	(void)argv;
	printf("{\"boottime\": %llu, \"monotonic\": %llu, \"realtime\": %llu}\n",
	       (unsigned long long)now_ns(CLOCK_BOOTTIME),
	       (unsigned long long)now_ns(CLOCK_MONOTONIC),
	       (unsigned long long)now_ns(CLOCK_REALTIME));
	return 0;
}

/* ---- the table ---- */

struct load {
	const char *name;
	int n_args;
	const char *usage;
	int (*run)(char **argv);
};

static const struct load loads[] = {
	{ "pingpong", 1, "N             two threads pass a byte to and fro, N round trips",
	  load_pingpong },
	{ "procs", 1, "N                N short processes; --life US, --at-once N", load_procs },
	{ "forkchain", 1, "N            N processes, each the child of the one before",
	  load_forkchain },
	{ "wakeups", 2,
	  "KIND N         N wakeups of a sleeping thread; futex pipe signal tcp timer",
	  load_wakeups },
	{ "sleep", 2, "N US             a thread naps N times", load_sleep },
	{ "reuse", 1, "N                N processes one after another, all with one id",
	  load_reuse },
	{ "rename", 1, "N               the main thread gets N names", load_rename },
	{ "threadexec", 0, "            a thread that is not the main one calls exec",
	  load_threadexec },
	{ "loopback", 1, "N             N packets to ourselves, each a NET_RX softirq",
	  load_loopback },
	{ "refresh", 1, "N              N work items on each CPU", load_refresh },
	{ "blocks", 2, "FILE N          N blocks written to disk, each an interrupt", load_blocks },
	{ "spin", 1, "MS                burns a CPU", load_spin },
	{ "clock", 0, "                 prints the clocks, read together", load_clock },
	{ "mapped", 2, "N PROCESSES     N mappings in each of so many processes", load_mapped },
	{ "child", 3, "NAME US CODE     what the processes of others run", load_child },
};

static void usage(FILE *to)
{
	fputs("Usage: kymo-load [--cpu C] [--waker-cpu C] [--life US] [--at-once N] [--held]\n"
	      "                 [--tag TAG] [--out FILE] LOAD ...\n\n",
	      to);
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		fprintf(to, "  %s %s\n", loads[i].name, loads[i].usage);
}

static void parse_options(int argc, char **argv)
{
	static const struct option table[] = {
		{ "cpu", required_argument, NULL, 'c' },
		{ "waker-cpu", required_argument, NULL, 'w' },
		{ "life", required_argument, NULL, 'l' },
		{ "at-once", required_argument, NULL, 'a' },
		{ "held", no_argument, NULL, 'h' },
		{ "tag", required_argument, NULL, 't' },
		{ "out", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, '?' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) >= 0) {
		switch (c) {
		case 'c':
			opt.cpu = (int)number(optarg);
			break;
		case 'w':
			opt.waker_cpu = (int)number(optarg);
			break;
		case 'l':
			opt.life_us = number(optarg);
			break;
		case 'a':
			opt.at_once = number(optarg);
			break;
		case 'h':
			opt.held = true;
			break;
		case 't':
			opt.tag = optarg;
			break;
		case 'o':
			if (!freopen(optarg, "we", stdout))
				die("cannot write %s", optarg);
			break;
		default:
			usage(stderr);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	parse_options(argc, argv);
	argv += optind;
	for (size_t i = 0; argv[0] && i < sizeof(loads) / sizeof(loads[0]); i++)
		if (strcmp(argv[0], loads[i].name) == 0 && argc - optind - 1 == loads[i].n_args)
			return loads[i].run(argv + 1);
	usage(stderr);
	return 2;
}
