/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who goes on, and who has ended, whatever they are called.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/proc/task-state.h"
#include "tests/support/unit.h"

TEST(test_runs)
{
	/* A name that looks like the rest of the line. */
	prctl(PR_SET_NAME, ") Z 1 (");
	assert_false(task_state_has_ended(getpid(), getpid()));
	assert_false(task_state_is_ending(getpid(), getpid()));
}

TEST(test_zombie)
{
	siginfo_t info;
	pid_t pid = fork();

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
