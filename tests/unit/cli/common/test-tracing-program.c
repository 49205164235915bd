/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/tracing-program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/unit.h"

static unsigned n_bad_closes;

/* Replaces the C library's. */
int close(int fd)
{
	long r = syscall(SYS_close, fd);

	n_bad_closes += r < 0 && errno == EBADF;
	return (int)r;
}

/* Another thread can get the number of a closed descriptor, which is closed once only. */
TEST(test_own)
{
	/* (the name is among the symbols of this program) */
	assert_int_equal(ptrace(PTRACE_CONT, 0, NULL, NULL), -1);
	assert_true(tracing_program(getpid()));
	assert_int_equal(n_bad_closes, 0);
}

TEST(test_other)
{
	int fds[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		execlp("sleep", "sleep", "1000", NULL);
		_exit(127);
	}
	close(fds[1]);
	/* (it is closed by the exec) */
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
	assert_false(tracing_program(pid));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_false(tracing_program(pid));
	assert_int_equal(n_bad_closes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
