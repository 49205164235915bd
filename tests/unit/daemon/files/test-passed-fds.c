/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/files/passed-fds.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/foreign-fds.h"
#include "capture/sandbox/clean-fd-table.h"
#include "tests/support/unit.h"

enum { N = 16 };

static sd_event *event;
static int pipe_error; /* the error of pipe2(), if it must fail */

int pipe2(int ends[2], int flags)
{
	if (!pipe_error)
		return (int)syscall(SYS_pipe2, ends, flags);
	errno = pipe_error;
	return -1;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int count_files(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += is_open(fd);
	return n;
}

static void receive(int fds[N])
{
	for (int i = 0; i < N; i++) {
		fds[i] = open("/dev/zero", O_RDONLY | O_CLOEXEC);
		assert_true(fds[i] >= 0);
		foreign_fds_mark(fds[i], FOREIGN_FD_OF(1));
	}
}

static void close_all(const int fds[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(close(fds[i]), 0);
}

/* Runs until there have been no hangups for a while. */
static void run_event(void)
{
	while (sd_event_run(event, 20000) > 0)
		;
}

FIXTURE(setup)
{
	(void)state;
	return clean_fd_table_begin() < 0 || foreign_fds_begin() < 0 ||
	       sd_event_default(&event) < 0 || passed_fds_begin(event) < 0;
}

/* The descriptors are available as long as the message has its stand-ins. */
TEST(test_take)
{
	int fds[N], stand_ins[N], before = count_files();

	for (int round = 0; round < 3; round++) {
		receive(fds);
		memcpy(stand_ins, fds, sizeof(fds));
		assert_int_equal(passed_fds_adopt(stand_ins, N), N);
		for (int i = 0; i < N; i++) {
			assert_int_not_equal(stand_ins[i], fds[i]);
			assert_int_equal(passed_fds_get(stand_ins[i]), fds[i]);
			assert_int_equal(foreign_fds_owner(stand_ins[i]), FOREIGN_FD_OWN);
		}
		assert_int_equal(count_files(), before + PASSED_FDS_NUMBERS(N));
		close_all(stand_ins, N - 1);
		run_event();
		assert_true(is_open(fds[0]) && is_open(fds[N - 1]));
		close_all(&stand_ins[N - 1], 1);
		run_event();
		assert_int_equal(count_files(), before);
		assert_int_equal(foreign_fds_owner(fds[0]), FOREIGN_FD_OWN);
	}
}

/* The number of a closed stand-in is reused before its pipe has hung up. */
TEST(test_reuse)
{
	int first[1], second[2], before = count_files(), fd = open("/dev/zero", O_RDONLY);

	first[0] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	assert_int_equal(passed_fds_adopt(first, 1), 1);
	close_all(first, 1);
	second[0] = fd;
	second[1] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	assert_int_equal(passed_fds_adopt(second, 2), 2);
	run_event();
	assert_int_equal(passed_fds_get(second[0]), fd);
	assert_true(is_open(fd));
	close_all(second, 2);
	run_event();
	assert_int_equal(count_files(), before);
}

TEST(test_refuse)
{
	int fd = passed_fds_refuse(-EDQUOT);

	assert_true(fd >= 0);
	assert_int_equal(passed_fds_get(fd), -EDQUOT);
	close_all(&fd, 1);
	assert_int_equal(passed_fds_get(INT32_MAX), INT32_MAX);
	assert_int_equal(passed_fds_get(-1), -1);
}

/* The message is complete, and contains the error. */
TEST(test_no_pipe)
{
	int fds[N], before = count_files();

	receive(fds);
	pipe_error = ENFILE;
	assert_int_equal(passed_fds_adopt(fds, N), N);
	pipe_error = 0;
	assert_int_equal(count_files(), before + N);
	for (int i = 0; i < N; i++)
		assert_int_equal(passed_fds_get(fds[i]), -ENFILE);
	close_all(fds, N);
	assert_int_equal(count_files(), before);
}

/* Descriptors without room are closed, and so are the others when the message is freed. */
TEST(test_no_numbers)
{
	int fds[N], before = count_files();
	struct rlimit files, few;
	size_t n;

	receive(fds);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	few = files;
	/* (the number of the writing end stays free) */
	few.rlim_cur = (rlim_t)fds[N - 1] + 1 + 2 + 5;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	n = passed_fds_adopt(fds, N);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	assert_int_equal(n, 5);
	close_all(fds, n);
	run_event();
	assert_int_equal(count_files(), before);
}

/* A child that never ends delays nothing. */
TEST(test_child)
{
	int fds[N], before = count_files(), status, n;
	pid_t pid;

	receive(fds);
	assert_int_equal(passed_fds_adopt(fds, N), N);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		pause();
		_exit(0);
	}
	close_all(fds, N);
	for (int i = 0; i < 100 && count_files() > before; i++)
		run_event();
	n = count_files();
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(n, before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take),       cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_refuse),     cmocka_unit_test(test_no_pipe),
		cmocka_unit_test(test_no_numbers), cmocka_unit_test(test_child),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
