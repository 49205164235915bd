/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limit-test TREE BUILD COMMAND ...: runs COMMAND, a test of the build directory BUILD, and ends it
 * if it takes longer than its `timeout:` in meson.build, multiplied by the slowness of this machine
 * (tests/slowness.sh). Before that, tests/end-test prints the state of its processes. meson itself
 * would end a test without a message, and at a fixed time.
 *
 * This process executes COMMAND itself. Another process watches it. The watching process is no
 * child of the test, and has none of the test's files open.
 *
 * meson waits not only for the end of a test, but also until no process has its output open. So
 * processes that still have it open some time after the end are ended, too. The test has failed
 * then: tools/run-tests recognises this by the line "LEFT: ..." in the output.
 *
 * With the policy SCHED_IDLE, the session of COMMAND gets the lowest weight, too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	LIMIT_DEFAULT = 30, /* seconds: meson's default */
	LIMIT_LEAST = 1,    /* seconds that every test can take */
	LIMIT_LEFT = 5,     /* seconds that processes can keep a test's output open after its end */
};

struct limit {
	const char *tree;
	const char *build;
	char **command; /* of the test, with N_WORDS words */
	int n_words;
	const char *mark;
	pid_t test;
	int seconds;
	char output[2][64]; /* the pipes of the test's output, as links in /proc show them, or "" */
};

static void limit_die(const char *what)
{
	fprintf(stderr, "limit-test: %s: %s\n", what, strerror(errno));
	exit(125);
}

/*
 * True if the N words at ARGV end with the command of TEST. (A wrapper such as valgrind can precede
 * the command.)
 */
static bool limit_is_of(struct json_object *test, char **argv, int n)
{
	struct json_object *cmd = json_object_object_get(test, "cmd");
	int words = (int)json_object_array_length(cmd);

	if (words > n)
		return false;
	for (int i = 0; i < words; i++) {
		struct json_object *word = json_object_array_get_idx(cmd, (size_t)i);

		if (strcmp(json_object_get_string(word), argv[n - words + i]) != 0)
			return false;
	}
	return true;
}

/* The seconds that meson.build allows for the command. */
static int limit_of(const char *build, char **argv, int n)
{
	char path[4096];
	struct json_object *tests;
	int limit = LIMIT_DEFAULT;

	snprintf(path, sizeof(path), "%s/meson-info/intro-tests.json", build);
	tests = json_object_from_file(path);
	for (size_t i = 0; tests && i < json_object_array_length(tests); i++) {
		struct json_object *test = json_object_array_get_idx(tests, i);

		if (limit_is_of(test, argv, n)) {
			limit = json_object_get_int(json_object_object_get(test, "timeout"));
			break;
		}
	}
	json_object_put(tests);
	return limit;
}

static int limit_number(const char *name)
{
	const char *text = getenv(name);

	return text && atoi(text) > 0 ? atoi(text) : 1;
}

/* Waits for up to SECONDS. Returns true if the process of PIDFD has ended. */
static bool limit_has_ended(int pidfd, int64_t seconds)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, (int)(seconds * 1000)) > 0;
}

static int limit_slowness(const char *tree)
{
	char command[4200];
	int factor = 1;
	FILE *f;

	snprintf(command, sizeof(command), "exec bash '%s/tests/slowness.sh'", tree);
	f = popen(command, "r");
	if (!f || fscanf(f, "%d", &factor) != 1)
		factor = 1;
	if (f)
		pclose(f);
	return factor > 0 ? factor : 1;
}

/* Opens the output of the test as this process's stderr. Not earlier, since meson waits until all
 * processes have closed the output. */
static void limit_open_stderr(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND);

	if (fd >= 0)
		dup2(fd, STDERR_FILENO);
}

static void limit_note_output(struct limit *l)
{
	struct stat st;

	for (int i = 0; i < 2; i++)
		if (fstat(STDOUT_FILENO + i, &st) == 0 && S_ISFIFO(st.st_mode))
			snprintf(l->output[i], sizeof(l->output[i]), "pipe:[%ju]",
				 (uintmax_t)st.st_ino);
}

/*
 * True if the process has the mark in its environment, or has no environment, since it starts a
 * program at this moment.
 */
static bool limit_is_marked(const struct limit *l, const char *pid)
{
	char path[300], line[64], *word = NULL;
	size_t size = 0;
	bool marked = false, any = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/environ", pid);
	snprintf(line, sizeof(line), "KYMO_TEST_MARK=%s", l->mark);
	f = fopen(path, "re");
	while (f && !marked && getdelim(&word, &size, '\0', f) > 0) {
		any = true;
		marked = strcmp(word, line) == 0;
	}
	free(word);
	if (f)
		fclose(f);
	return marked || (f && !any);
}

/* True if the process can print to the test's output. PATH gets the file in /proc by which this
 * output can be opened. */
static bool limit_can_print(const struct limit *l, const char *pid, char *path, size_t size)
{
	char link[64];

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		ssize_t n;

		snprintf(path, size, "/proc/%s/fd/%d", pid, fd);
		n = readlink(path, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		if (n > 0 && (strcmp(link, l->output[0]) == 0 || strcmp(link, l->output[1]) == 0))
			return true;
	}
	return false;
}

/* True if any process of the test can print to its output. PATH gets the file, as for
 * limit_can_print(). */
static bool limit_find_left(const struct limit *l, char *path, size_t size)
{
	const struct dirent *entry;
	DIR *dir = opendir("/proc");
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			limit_can_print(l, entry->d_name, path, size) &&
			limit_is_marked(l, entry->d_name);
	if (dir)
		closedir(dir);
	return found;
}

static void limit_end_test(const struct limit *l, int seconds)
{
	char script[4200], pid[16], number[16];

	unsetenv("KYMO_TEST_MARK");
	snprintf(script, sizeof(script), "%s/tests/end-test", l->tree);
	snprintf(pid, sizeof(pid), "%d", (int)l->test);
	snprintf(number, sizeof(number), "%d", seconds);
	execl(script, script, pid, number, l->mark, NULL);
	_exit(125);
}

/* Ends the processes of the test, after the test has ended. */
static void limit_end_left(const struct limit *l)
{
	char path[300];

	/* (most processes that are left end with the test, or soon after it) */
	for (int tries = 0; tries < LIMIT_LEFT * 2; tries++) {
		if (!limit_find_left(l, path, sizeof(path)))
			_exit(0);
		usleep(500000);
	}
	sleep((unsigned)(LIMIT_LEFT * (limit_slowness(l->tree) - 1)));
	if (!limit_find_left(l, path, sizeof(path)))
		_exit(0);
	limit_open_stderr(path);
	limit_end_test(l, 0);
}

static void limit_watch(struct limit *l, int pidfd)
{
	char path[64];
	int factor;

	setsid();
	dup2(open("/dev/null", O_RDWR), STDIN_FILENO);
	dup2(STDIN_FILENO, STDOUT_FILENO);
	dup2(STDIN_FILENO, STDERR_FILENO);
	dup2(pidfd, 3);
	close_range(4, ~0U, 0);
	/* (Most tests end at once. The list of all tests takes 10 ms of CPU time.) */
	if (limit_has_ended(3, LIMIT_LEAST))
		limit_end_left(l);
	l->seconds =
		limit_of(l->build, l->command, l->n_words) * limit_number("KYMO_TEST_BUILD_FACTOR");
	if (limit_has_ended(3, l->seconds - LIMIT_LEAST))
		limit_end_left(l);
	factor = limit_slowness(l->tree);
	if (factor > 1 && limit_has_ended(3, (int64_t)l->seconds * (factor - 1)))
		limit_end_left(l);
	snprintf(path, sizeof(path), "/proc/%d/fd/2", (int)l->test);
	limit_open_stderr(path);
	limit_end_test(l, l->seconds * factor);
}

/*
 * meson starts each test in a session of its own. The kernel shares the CPUs among the sessions
 * first (sched(7), "The autogroup feature"). The policy of a process counts only among the
 * processes of its session.
 */
static void limit_give_way(void)
{
	int fd;

	if (sched_getscheduler(0) != SCHED_IDLE || getsid(0) != getpid())
		return;
	fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return; /* a kernel without this feature */
	/* (the write fails if the session has no group) */
	if (write(fd, "19", 2) < 0)
		errno = 0;
	close(fd);
}

int main(int argc, char **argv)
{
	struct limit l = { .test = getpid(), .command = argv + 3, .n_words = argc - 3 };
	struct timespec now;
	char mark[64];
	pid_t child;
	int pidfd;

	if (argc < 4) {
		fprintf(stderr, "Usage: limit-test TREE BUILD COMMAND ...\n");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(mark, sizeof(mark), "%d-%jd", (int)l.test,
		 (intmax_t)now.tv_sec * 1000000000 + now.tv_nsec);
	l.tree = argv[1];
	l.build = argv[2];
	l.mark = mark;
	limit_give_way();
	limit_note_output(&l);
	setenv("KYMO_TEST_MARK", mark, 1);
	pidfd = (int)syscall(SYS_pidfd_open, l.test, 0);
	if (pidfd < 0)
		limit_die("pidfd_open");
	child = fork();
	if (child < 0)
		limit_die("fork");
	if (child == 0) {
		if (fork() == 0)
			limit_watch(&l, pidfd);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	close(pidfd);
	execvp(argv[3], argv + 3);
	limit_die(argv[3]);
}
