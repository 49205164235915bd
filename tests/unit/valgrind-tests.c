/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * valgrind-tests SHARE OF: runs a share of the unit tests that run under valgrind (the first of
 * four shares: 0 4), each in a process of its own. valgrind needs half a second to start, more than
 * most tests take, and a forked process needs no start.
 *
 * The tests are the objects of their own programs, whose main() has another name
 * (tests/unit/join-tests). Exits 1 if a test failed, or if valgrind found an error in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int test_main(int argc, char **argv);

/* NAME(symbol, "name") for each test */
#define NAME(symbol, name) test_main symbol;
#include "valgrind-tests-names.h"
#undef NAME

static const struct {
	test_main *main;
	const char *name;
} tests[] = {
#define NAME(symbol, name) { symbol, name },
#include "valgrind-tests-names.h"
#undef NAME
};

enum { N_TESTS = sizeof(tests) / sizeof(tests[0]) };

/* Returns the wait status. */
static int valgrind_tests_run(int i)
{
	char *argv[] = { strdup(tests[i].name), NULL };
	int status = -1;
	pid_t pid;

	printf("-- %s\n", tests[i].name);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		exit(tests[i].main(1, argv));
	free(argv[0]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		perror("valgrind-tests");
	return status;
}

int main(int argc, char **argv)
{
	int share = argc == 3 ? atoi(argv[1]) : -1, of = argc == 3 ? atoi(argv[2]) : 0;
	int failed = 0, status;

	if (share < 0 || share >= of) {
		fprintf(stderr, "Usage: valgrind-tests SHARE OF\n");
		return 2;
	}
	for (int i = share; i < N_TESTS; i += of) {
		status = valgrind_tests_run(i);
		if (status == 0)
			continue;
		failed = 1;
		if (WIFSIGNALED(status))
			printf("FAIL: %s: signal %d\n", tests[i].name, WTERMSIG(status));
		else
			printf("FAIL: %s: exit status %d\n", tests[i].name, WEXITSTATUS(status));
	}
	return failed;
}
