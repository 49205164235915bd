/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wait for unwind tables before a recording begins.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/programs/collector-parts.h"
#include "tests/support/unit.h"

#define SECOND UINT64_C(1000000000)

/* Only a command that waits for the recording gives the recording more time. */
TEST(test_ready)
{
	uint32_t pids[2] = { 0, (uint32_t)getpid() };
	struct session_options o = { .filter = { .pids = pids, .n_pids = 1 } };
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	pids[0] = (uint32_t)pid;
	/* A process of a server that forks and never calls exec. */
	assert_int_equal(collector_ready_ns(&o), SECOND);
	o.command_waits = true;
	assert_int_equal(collector_ready_ns(&o), 5 * SECOND);
	o.filter.n_pids = 2;
	assert_int_equal(collector_ready_ns(&o), SECOND);
	o.filter.n_pids = 0;
	assert_int_equal(collector_ready_ns(&o), SECOND);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* It runs a program of its own, or is gone. */
	o.filter.n_pids = 1;
	assert_int_equal(collector_ready_ns(&o), SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ready),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
