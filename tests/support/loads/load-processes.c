/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads of processes: short ones, chains, reused ids, exec and names.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/loads/load.h"

enum { SHORT_LIFE_NS = 5000000 };

/* ---- procs: many short-lived processes ---- */

enum child_kind {
	CHILD_EXEC_RENAME, /* fork, exec, then a new name */
	CHILD_RENAME,      /* fork, then a new name */
	CHILD_EXEC,        /* fork, exec; keeps the name of the file */
	CHILD_KIND_MAX,
};

struct child {
	enum child_kind kind;
	pid_t pid;
	char name[COMM_BYTES];
	int exit_code;
	uint64_t begin_ns, life_ns;
};

__attribute__((noreturn)) static void child_exec(const char *name, int exit_code)
{
	char path[4096], life[32], code[16];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n < 0)
		die("cannot find myself");
	path[n] = 0; /* not /proc/self/exe itself, which would give the name "exe" */
	snprintf(life, sizeof(life), "%llu", (unsigned long long)opt.life_us);
	snprintf(code, sizeof(code), "%d", exit_code);
	execl(path, path, "child", name, life, code, (char *)NULL);
	die("cannot exec %s", path);
}

/*
 * child NAME US CODE: the program of the exec'ed children. With "-" as NAME, they keep the name
 * from exec.
 */
int load_child(char **argv)
{
	if (strcmp(argv[0], "-") != 0)
		set_name(argv[0]);
	sleep_us(number(argv[1]));
	return (int)number(argv[2]);
}

static void spawn(struct child *c, uint64_t i)
{
	c->kind = i % CHILD_KIND_MAX;
	c->exit_code = (int)(i % 100);
	if (c->kind == CHILD_EXEC)
		snprintf(c->name, sizeof(c->name), "kymo-load");
	else
		snprintf(c->name, sizeof(c->name), "short%u", (uint32_t)i);
	c->begin_ns = now_ns(CLOCK_MONOTONIC);
	c->pid = fork();
	if (c->pid < 0)
		die("cannot fork");
	if (c->pid > 0)
		return;
	switch (c->kind) {
	case CHILD_EXEC_RENAME:
		child_exec(c->name, c->exit_code);
	case CHILD_EXEC:
		child_exec("-", c->exit_code);
	default:
		set_name(c->name);
		sleep_us(opt.life_us);
		_exit(c->exit_code);
	}
}

static void reap_one(struct child *children, uint64_t n)
{
	int status;
	pid_t pid = waitpid(-1, &status, 0);

	if (pid < 0)
		die("cannot wait for a child");
	for (uint64_t i = n; i-- > 0;) {
		struct child *c = &children[i];

		if (c->pid != pid)
			continue;
		c->life_ns = now_ns(CLOCK_MONOTONIC) - c->begin_ns;
		if (!WIFEXITED(status) || WEXITSTATUS(status) != c->exit_code) {
			errno = 0;
			die("child %s ended with status %d", c->name, status);
		}
		return;
	}
}

int load_procs(char **argv)
{
	uint64_t n = number(argv[0]), alive = 0, too_long = 0, longest = 0;
	struct child *children = calloc(n + 1, sizeof(*children));

	if (!children)
		die("no memory");
	hold_begin();
	for (uint64_t i = 0; i < n; i++) {
		spawn(&children[i], i);
		if (++alive >= opt.at_once) {
			reap_one(children, i + 1);
			alive--;
		}
	}
	while (alive-- > 0)
		reap_one(children, n);

	for (uint64_t i = 0; i < n; i++) {
		too_long += children[i].life_ns >= SHORT_LIFE_NS;
		if (children[i].life_ns > longest)
			longest = children[i].life_ns;
	}
	printf("{\"load\": \"procs\", \"pid\": %d, \"longest_ns\": %llu, \"over_5ms\": %llu, "
	       "\"children\": [",
	       (int)getpid(), (unsigned long long)longest, (unsigned long long)too_long);
	for (uint64_t i = 0; i < n; i++)
		printf("%s\n{\"pid\": %d, \"ppid\": %d, \"name\": \"%s\", \"exit_code\": %d, "
		       "\"execs\": %s}",
		       i ? "," : "", (int)children[i].pid, (int)getpid(), children[i].name,
		       children[i].exit_code, children[i].kind == CHILD_RENAME ? "false" : "true");
	printf("]}\n");
	free(children);
	hold_end();
	return 0;
}

/* ---- forkchain: each process is the parent of the next ---- */

struct chain {
	uint64_t n;
	pid_t pids[4096];
};

static void forge(struct chain *c, uint64_t i)
{
	pid_t pid;

	if (i > c->n)
		return;
	pid = fork();
	if (pid < 0)
		die("cannot fork");
	if (pid == 0) {
		char name[COMM_BYTES];

		snprintf(name, sizeof(name), "link%llu", (unsigned long long)i);
		set_name(name);
		c->pids[i] = getpid();
		forge(c, i + 1);
		sleep_us(opt.life_us);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int load_forkchain(char **argv)
{
	struct chain *c = shared_memory(sizeof(*c));

	c->n = number(argv[0]);
	if (c->n + 1 > sizeof(c->pids) / sizeof(c->pids[0])) {
		errno = 0;
		die("a chain that long would be a rope");
	}
	c->pids[0] = getpid();
	hold_begin();
	forge(c, 1);
	printf("{\"load\": \"forkchain\", \"pid\": %d, \"links\": [", (int)getpid());
	for (uint64_t i = 1; i <= c->n; i++)
		printf("%s{\"pid\": %d, \"ppid\": %d, \"name\": \"link%llu\"}", i > 1 ? ", " : "",
		       (int)c->pids[i], (int)c->pids[i - 1], (unsigned long long)i);
	printf("]}\n");
	hold_end();
	return 0;
}

/* ---- reuse: processes with the id of their predecessor ---- */

static pid_t fork_as(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = pid ? (uintptr_t)&pid : 0,
		.set_tid_size = pid ? 1 : 0,
	};

	fflush(NULL);
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

int load_reuse(char **argv)
{
	uint64_t n = number(argv[0]);
	pid_t pid = 0;

	hold_begin();
	for (uint64_t i = 1; i <= n; i++) {
		pid_t child = fork_as(pid);

		if (child < 0)
			die("cannot create a process with id %d", (int)pid);
		if (child == 0) {
			char name[COMM_BYTES];

			snprintf(name, sizeof(name), "owner%u", (uint32_t)i);
			set_name(name);
			sleep_us(opt.life_us);
			_exit(0);
		}
		pid = child;
		waitpid(pid, NULL, 0);
	}
	printf("{\"load\": \"reuse\", \"pid\": %d, \"tid\": %d, \"owners\": %llu}\n", (int)getpid(),
	       (int)pid, (unsigned long long)n);
	hold_end();
	return 0;
}

/* ---- rename, threadexec ---- */

int load_rename(char **argv)
{
	uint64_t n = number(argv[0]);
	char name[COMM_BYTES] = "kymo-load";

	hold_begin();
	for (uint64_t i = 1; i <= n; i++) {
		snprintf(name, sizeof(name), "name%llu", (unsigned long long)i);
		set_name(name);
	}
	printf("{\"load\": \"rename\", \"pid\": %d, \"renames\": %llu, \"last\": \"%s\"}\n",
	       (int)getpid(), (unsigned long long)n, name);
	hold_end();
	return 0;
}

static void *threadexec_main(void *arg)
{
	(void)arg;
	set_name("taker");
	printf("{\"load\": \"threadexec\", \"pid\": %d, \"old_thread\": %d, \"name\": \"taken\"}\n",
	       (int)getpid(), (int)my_tid());
	fflush(stdout);
	child_exec("taken", 0);
}

/* A thread other than the main thread calls exec, and takes over the id of its process. */
int load_threadexec(char **argv)
{
	pthread_t thread;

	(void)argv;
	hold_begin();
	start_thread(&thread, threadexec_main, NULL);
	pthread_join(thread, NULL);
	return 1;
}

/* ---- mapped: many mappings, which take long to list ---- */

/* Neighbours with different rights are separate mappings. */
static void map_many(uint64_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, n * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("cannot map");
	for (uint64_t i = 0; i < n; i += 2)
		if (mprotect(at + i * page, page, PROT_NONE) < 0)
			die("cannot make %llu mappings", (unsigned long long)n);
}

/* Prints a line when all mappings exist, and lives until it is killed. */
int load_mapped(char **argv)
{
	uint64_t n_processes = number(argv[1]);

	map_many(number(argv[0]));
	for (uint64_t i = 1; i < n_processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("cannot fork");
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	printf("{\"load\": \"mapped\", \"pid\": %d}\n", (int)getpid());
	fflush(stdout);
	for (;;)
		pause();
}
