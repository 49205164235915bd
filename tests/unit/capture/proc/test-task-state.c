/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * States of tasks: alive or ended, with any name.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/proc/mappings.h"
#include "capture/proc/task-state.h"
#include "tests/support/unit.h"

TEST(test_runs)
{
	/* A name that looks like the rest of the line. */
	prctl(PR_SET_NAME, ") Z 1 (");
	assert_false(task_state_has_ended(getpid(), getpid()));
	assert_false(task_state_is_ending(getpid(), getpid()));
	assert_false(task_state_process_is_ending(getpid()));
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
	assert_true(task_state_process_is_ending(pid));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(task_state_process_is_ending(pid));
	/* Ended. */
	assert_true(task_state_has_ended(pid, pid));
	assert_true(task_state_is_ending(pid, pid));
}

static void *pause_in_thread(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static int count_mapping(const struct rec_mapping *rec, void *userdata)
{
	*(unsigned *)userdata += rec->bytes > 0;
	return 0;
}

/* A first thread that has ended has no memory. Its process has. */
TEST(test_first_thread_ends)
{
	unsigned n_mappings = 0;
	pthread_t thread;
	pid_t pid = fork(), oldest;

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&thread, NULL, pause_in_thread, NULL);
		pthread_exit(NULL);
	}
	assert_soon(task_state_has_ended(pid, pid));
	oldest = task_state_oldest(pid);
	assert_true(oldest > 0 && oldest != pid);
	assert_false(task_state_is_ending(pid, oldest));
	assert_int_equal(mappings_of_process("", (uint32_t)pid, count_mapping, &n_mappings), 0);
	assert_true(n_mappings > 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(task_state_oldest(pid), 0);
	assert_int_equal(task_state_oldest(getpid()), getpid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_zombie),
		cmocka_unit_test(test_first_thread_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
