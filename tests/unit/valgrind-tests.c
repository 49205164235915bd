/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * valgrind-tests SHARE OF: runs a share of the unit tests that run under valgrind (the first of
 * four shares: 0 4), each in a process of its own. valgrind needs half a second to start, more than
 * most tests take, and a forked process needs no start.
 *
 * The tests are the objects of their own programs, whose main() has another name
 * (tests/unit/join-tests). Exits 1 if a test failed, or if valgrind found an error in it. Both
 * outputs have a line "-- NAME" before the output of each test, and "FAIL: NAME: WHY" after that of
 * a failed one: tools/run-tests makes a result of its own from it.
 *
 * If a test hangs, the time limit of the share ends it and this process by SIGTERM
 * (tests/support/limit-test.c). The tests that have not run then have failed, too.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
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

static volatile sig_atomic_t late;

static void valgrind_tests_on_term(int number)
{
	(void)number;
	late = 1;
}

/* Prints a line to both outputs. */
__attribute__((format(printf, 1, 2))) static void valgrind_tests_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fflush(NULL);
}

/* Returns the wait status. */
static int valgrind_tests_run(int i)
{
	char *argv[] = { strdup(tests[i].name), NULL };
	int status = -1;
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		signal(SIGTERM, SIG_DFL);
		exit(tests[i].main(1, argv));
	}
	free(argv[0]);
	/* (SA_RESTART: the same signal ends the test) */
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		perror("valgrind-tests");
	return status;
}

/* Returns whether test I has passed. */
static bool valgrind_tests_passed(int i)
{
	const char *name = tests[i].name;
	int status;

	valgrind_tests_say("-- %s\n", name);
	if (late) {
		valgrind_tests_say("FAIL: %s: not run\n", name);
		return false;
	}
	status = valgrind_tests_run(i);
	if (status == 0)
		return true;
	if (late)
		valgrind_tests_say("FAIL: %s: did not end in time\n", name);
	else if (WIFSIGNALED(status))
		valgrind_tests_say("FAIL: %s: signal %d\n", name, WTERMSIG(status));
	else
		valgrind_tests_say("FAIL: %s: exit status %d\n", name, WEXITSTATUS(status));
	return false;
}

int main(int argc, char **argv)
{
	int share = argc == 3 ? atoi(argv[1]) : -1, of = argc == 3 ? atoi(argv[2]) : 0;
	const struct sigaction on_term = { .sa_handler = valgrind_tests_on_term,
					   .sa_flags = SA_RESTART };
	int failed = 0;

	if (share < 0 || share >= of) {
		fprintf(stderr, "Usage: valgrind-tests SHARE OF\n");
		return 2;
	}
	sigaction(SIGTERM, &on_term, NULL);
	for (int i = share; i < N_TESTS; i += of)
		failed |= !valgrind_tests_passed(i);
	return failed;
}
