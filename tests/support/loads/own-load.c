/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does the steps in its arguments, and logs its identity at each step: for tests of the contents of
 * a session of one user's own processes.
 *
 *	own-load LOG STEP ...
 *
 * Steps are words, some with a value after "=". "script=FILE" stands for the steps in FILE, which
 * are then in no command line. LOG gets lines "proc NAME PID TID" and "map NAME START END".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *log_path;
static char name[16] = "?";
static void *volatile kept;

static void die(const char *what)
{
	fprintf(stderr, "own-load: %s: %s: %s\n", name, what, strerror(errno));
	exit(1);
}

static void say(const char *line)
{
	int fd = open(log_path, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		die(log_path);
	close(fd);
}

static void say_who(void)
{
	char line[80];

	snprintf(line, sizeof(line), "proc %s %d %ld\n", name, getpid(), syscall(SYS_gettid));
	say(line);
}

static void say_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char text[512], line[128], rights[8];
	unsigned long start, end;

	if (!f)
		die("/proc/self/maps");
	while (fgets(text, sizeof(text), f)) {
		/* (ranges without rights are large, so other processes have the same addresses by
		 * chance) */
		if (sscanf(text, "%lx-%lx %7s", &start, &end, rights) != 3 ||
		    strncmp(rights, "---", 3) == 0 || strstr(text, "[vsyscall]"))
			continue;
		snprintf(line, sizeof(line), "map %s %lu %lu\n", name, start, end);
		say(line);
	}
	fclose(f);
}

static void set_name(const char *to)
{
	snprintf(name, sizeof(name), "%s", to);
	prctl(PR_SET_NAME, name);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void nap(long ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* Uses CPU time, with occasional calls of the allocator. */
static void spin(long ms)
{
	struct timespec t;
	uint64_t until, used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	used = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	until = used + (uint64_t)ms * 1000000;
	for (unsigned i = 0; used < until; i++) {
		if (i % 4096 == 0) {
			kept = malloc(100);
			free(kept);
		}
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		used = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	}
}

static void allocate(long n)
{
	for (long i = 0; i < n; i++)
		kept = malloc(1000);
}

static void map_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		die(path);
	close(fd);
}

/* Maps and unmaps a file N times. */
static void flood(const char *path, int n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < n; i++) {
		void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (p == MAP_FAILED)
			die(path);
		munmap(p, 4096);
	}
	close(fd);
}

static void *run_thread(void *to)
{
	char line[80];

	prctl(PR_SET_NAME, to);
	snprintf(line, sizeof(line), "proc %s %d %ld\n", (const char *)to, getpid(),
		 syscall(SYS_gettid));
	say(line);
	spin(50);
	nap(20);
	return NULL;
}

static void start_thread(char *to)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_thread, to) != 0)
		die("pthread_create");
	pthread_join(thread, NULL);
}

/* The child continues with the next steps. */
static void go_on_in_child(void)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0)
		return;
	if (waitpid(pid, &status, 0) < 0)
		die("waitpid");
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void become(unsigned id)
{
	if (setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
		die("setresuid");
}

static void run_program(char *path, char **steps, int n)
{
	char *argv[64] = { path, (char *)log_path };

	for (int i = 0; i < n && i < 61; i++)
		argv[2 + i] = steps[i];
	execv(path, argv);
	die(path);
}

/* Wakes the process that reads there, every few milliseconds. */
static void write_bytes(const char *path, int n)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		die(path);
	for (int i = 0; i < n; i++) {
		if (write(fd, "x", 1) < 0)
			die(path);
		nap(3);
	}
	close(fd);
}

static void read_bytes(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char byte;

	if (fd < 0)
		die(path);
	while (read(fd, &byte, 1) > 0)
		;
	close(fd);
}

static uint32_t *shared_word(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *p = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		die(path);
	close(fd);
	return p;
}

/* Sleeps until the word is N. */
static void wait_for(const char *path, uint32_t n)
{
	uint32_t *word = shared_word(path), value;
	const struct timespec limit = { 120, 0 };

	while ((value = __atomic_load_n(word, __ATOMIC_SEQ_CST)) < n)
		if (syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, NULL, 0) < 0 &&
		    errno == ETIMEDOUT)
			die("nobody wakes us");
}

static void wake(const char *path, uint32_t n)
{
	uint32_t *word = shared_word(path);

	for (uint32_t i = 0; i < n; i++) {
		__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, word, FUTEX_WAKE, 100, NULL, NULL, 0);
		nap(3);
	}
}

static void on_signal(int signal)
{
	(void)signal;
}

static void take_signals(long ms)
{
	uint64_t until = now_ms() + (uint64_t)ms;

	while (now_ms() < until)
		nap(50);
}

static void send_signals(pid_t pid, int n)
{
	for (int i = 0; i < n; i++) {
		kill(pid, SIGUSR1);
		nap(3);
	}
}

/* Runs one step. VALUE is "" without a value. */
static void take(const char *step, char *value)
{
	char *comma = strchr(value, ',');
	long number = strtol(comma ? comma + 1 : value, NULL, 10);

	if (comma)
		*comma = '\0';
	if (strcmp(step, "name") == 0)
		set_name(value);
	else if (strcmp(step, "log") == 0)
		say_who();
	else if (strcmp(step, "maps") == 0)
		say_maps();
	else if (strcmp(step, "spin") == 0)
		spin(number);
	else if (strcmp(step, "nap") == 0)
		nap(number);
	else if (strcmp(step, "dumpable") == 0)
		prctl(PR_SET_DUMPABLE, number, 0, 0, 0);
	else if (strcmp(step, "euid") == 0)
		number = seteuid((uid_t)number) < 0 ? (die("seteuid"), 0) : 0;
	else if (strcmp(step, "become") == 0)
		become((unsigned)number);
	else if (strcmp(step, "allocate") == 0)
		allocate(number);
	else if (strcmp(step, "map") == 0)
		map_file(value);
	else if (strcmp(step, "thread") == 0)
		start_thread(value);
	else if (strcmp(step, "fork") == 0)
		go_on_in_child();
	else if (strcmp(step, "write") == 0)
		write_bytes(value, (int)number);
	else if (strcmp(step, "read") == 0)
		read_bytes(value);
	else if (strcmp(step, "wait") == 0)
		wait_for(value, (uint32_t)number);
	else if (strcmp(step, "wake") == 0)
		wake(value, (uint32_t)number);
	else if (strcmp(step, "flood") == 0)
		flood(value, (int)number);
	else if (strcmp(step, "signals") == 0)
		take_signals(number);
	else if (strcmp(step, "signal") == 0)
		send_signals((pid_t)strtol(value, NULL, 10), (int)number);
	else
		die(step);
}

static void take_all(char **steps, int n);

static void run_script(const char *path)
{
	static char text[8192];
	char *steps[64], *rest = text, *word;
	int fd = open(path, O_RDONLY | O_CLOEXEC), n = 0;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		die(path);
	close(fd);
	while (n < 64 && (word = strsep(&rest, " \n")))
		if (*word)
			steps[n++] = word;
	take_all(steps, n);
}

static void take_all(char **steps, int n)
{
	for (int i = 0; i < n; i++) {
		char *equals = strchr(steps[i], '=');
		char step[32], value[4096];

		snprintf(step, sizeof(step), "%.*s",
			 (int)(equals ? equals - steps[i] : (long)strlen(steps[i])), steps[i]);
		snprintf(value, sizeof(value), "%s", equals ? equals + 1 : "");
		if (strcmp(step, "exec") == 0)
			run_program(value, steps + i + 1, n - i - 1);
		else if (strcmp(step, "script") == 0)
			run_script(value);
		else
			take(step, value);
	}
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };

	if (argc < 3)
		die("nothing to do");
	log_path = argv[1];
	sigaction(SIGUSR1, &action, NULL);
	take_all(argv + 2, argc - 2);
	return 0;
}
