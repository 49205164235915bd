/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * States of tasks: alive or ended, with any name.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

/* A child of fork has no program of its own until it calls exec. */
TEST(test_has_executed)
{
	int fds[2];
	char go;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (read(fds[0], &go, 1) == 1)
			execlp("sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	assert_false(task_state_has_executed(pid));
	assert_int_equal(write(fds[1], "", 1), 1);
	assert_soon(task_state_has_executed(pid));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(task_state_has_executed(pid));
	close(fds[0]);
	close(fds[1]);
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

enum { CHECKS = 200 };

/* In the processes below: a pipe that is closed when the test ends. */
static int lifeline;

/*
 * Ends a process that the test has left. (Its first thread ends, and with it PR_SET_PDEATHSIG. How
 * long the test needs depends on the machine, so there is no alarm.)
 */
static void end_with_test(void)
{
	struct pollfd ends = { .fd = lifeline };

	if (poll(&ends, 1, 0) != 0)
		_exit(1);
}

/* Begins a thread that does the same, and ends. */
static void *relay(void *unused)
{
	pthread_t next;

	end_with_test();
	if (pthread_create(&next, NULL, relay, NULL) != 0)
		_exit(1);
	pthread_detach(next);
	return unused;
}

/* The path of this program. (With valgrind, /proc/thread-self/exe is valgrind.) */
static const char *program;

/* Executes this program again, in another thread than the first one, which ends. */
static void *exec_in_thread(void *unused)
{
	char fd[16];

	snprintf(fd, sizeof(fd), "%d", lifeline);
	execl(program, program, "exec", fd, NULL);
	_exit(1);
	return unused;
}

static void exec_and_leave(void)
{
	pthread_t thread;

	end_with_test();
	if (pthread_create(&thread, NULL, exec_in_thread, NULL) != 0)
		_exit(1);
	pthread_exit(NULL);
}

/* A process is alive if it always has a thread, but no thread for long. */
static void check_changing(void (*start)(void))
{
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(fds[1]);
		lifeline = fds[0];
		start();
	}
	close(fds[0]);
	for (unsigned i = 0; i < CHECKS; i++) {
		assert_false(task_state_process_has_ended(pid));
		assert_false(task_state_process_is_ending(pid));
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(task_state_process_has_ended(pid));
	close(fds[1]);
}

static void relay_and_leave(void)
{
	relay(NULL);
	pthread_exit(NULL);
}

TEST(test_relay)
{
	check_changing(relay_and_leave);
}

TEST(test_exec)
{
	check_changing(exec_and_leave);
}

/* A task whose state cannot be read has not ended. */
TEST(test_no_descriptors)
{
	struct rlimit before, none;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_false(task_state_has_ended(getpid(), getpid()));
	assert_false(task_state_is_ending(getpid(), getpid()));
	assert_false(task_state_process_has_ended(getpid()));
	assert_false(task_state_process_is_ending(getpid()));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc > 2 && strcmp(argv[1], "exec") == 0) {
		lifeline = atoi(argv[2]);
		exec_and_leave();
	}
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),           cmocka_unit_test(test_has_executed),
		cmocka_unit_test(test_zombie),         cmocka_unit_test(test_first_thread_ends),
		cmocka_unit_test(test_relay),          cmocka_unit_test(test_exec),
		cmocka_unit_test(test_no_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
