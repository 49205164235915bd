/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limit-test TREE BUILD COMMAND ...: runs COMMAND, a test of the build directory BUILD, and ends it
 * if it takes longer than its `timeout:` in meson.build, times the slowness of this machine
 * (tests/slowness.sh). Before, tests/end-test prints where its processes stand. meson itself ends a
 * test silently, and at a fixed time.
 *
 * COMMAND takes this process over. A process that nobody has to wait for watches it, and has none
 * of its files open.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_DEFAULT = 30 /* seconds, as meson has it */ };

static void limit_die(const char *what)
{
	fprintf(stderr, "limit-test: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* Whether the N words at ARGV end with the command of TEST. (Others may stand before: valgrind.) */
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

/* Whether the process of PIDFD has ended, at the latest in SECONDS. */
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

/* Where the test prints its errors: only now, since meson waits until nobody has it open. */
static void limit_open_stderr(pid_t test)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/2", (int)test);
	fd = open(path, O_WRONLY | O_APPEND);
	if (fd >= 0)
		dup2(fd, STDERR_FILENO);
}

static void limit_watch(const char *tree, pid_t test, int pidfd, int limit, const char *mark)
{
	char script[4200], pid[16], seconds[16];
	int factor;

	setsid();
	dup2(open("/dev/null", O_RDWR), STDIN_FILENO);
	dup2(STDIN_FILENO, STDOUT_FILENO);
	dup2(STDIN_FILENO, STDERR_FILENO);
	dup2(pidfd, 3);
	close_range(4, ~0U, 0);
	if (limit_has_ended(3, limit))
		_exit(0);
	factor = limit_slowness(tree);
	if (factor > 1 && limit_has_ended(3, (int64_t)limit * (factor - 1)))
		_exit(0);
	unsetenv("KYMO_TEST_MARK");
	limit_open_stderr(test);
	snprintf(script, sizeof(script), "%s/tests/end-test", tree);
	snprintf(pid, sizeof(pid), "%d", (int)test);
	snprintf(seconds, sizeof(seconds), "%d", limit * factor);
	execl(script, script, pid, seconds, mark, NULL);
	_exit(125);
}

int main(int argc, char **argv)
{
	pid_t test = getpid(), child;
	char mark[32];
	int limit, pidfd;

	if (argc < 4) {
		fprintf(stderr, "Usage: limit-test TREE BUILD COMMAND ...\n");
		return 2;
	}
	limit = limit_of(argv[2], argv + 3, argc - 3) * limit_number("KYMO_TEST_BUILD_FACTOR");
	snprintf(mark, sizeof(mark), "%d-%d", (int)test, rand());
	setenv("KYMO_TEST_MARK", mark, 1);
	pidfd = (int)syscall(SYS_pidfd_open, test, 0);
	if (pidfd < 0)
		limit_die("pidfd_open");
	child = fork();
	if (child < 0)
		limit_die("fork");
	if (child == 0) {
		if (fork() == 0)
			limit_watch(argv[1], test, pidfd, limit, mark);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	close(pidfd);
	execvp(argv[3], argv + 3);
	limit_die(argv[3]);
}
