/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who goes on, and who has ended, whatever they are called.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/proc/task-state.h"

static void test_runs(void **state)
{
	(void)state;
	/* A name that looks like the rest of the line. */
	prctl(PR_SET_NAME, ") Z 1 (");
	assert_false(task_state_has_ended(getpid(), getpid()));
	assert_false(task_state_is_ending(getpid(), getpid()));
}

static void test_zombie(void **state)
{
	siginfo_t info;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(task_state_has_ended(pid, pid));
	assert_true(task_state_is_ending(pid, pid));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* Gone. */
	assert_true(task_state_has_ended(pid, pid));
	assert_true(task_state_is_ending(pid, pid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_zombie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
