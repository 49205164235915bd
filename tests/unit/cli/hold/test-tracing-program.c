/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/hold/tracing-program.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool hangs;

/* Replaces the C library's: waits while the file system does not answer. */
int open(const char *path, int flags, ...)
{
	pthread_mutex_lock(&lock);
	while (hangs)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
}

static void set_hangs(bool value)
{
	pthread_mutex_lock(&lock);
	hangs = value;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

/* Another thread can get the number of a closed descriptor, which is closed once only. */
TEST(test_own)
{
	/* (the name is among the symbols of this program) */
	assert_int_equal(ptrace(PTRACE_CONT, 0, NULL, NULL), -1);
	assert_int_equal(tracing_program(getpid()), 1);
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
	assert_int_equal(tracing_program(pid), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(tracing_program(pid), 0);
	assert_int_equal(n_bad_closes, 0);
}

/* A file system that does not answer: a few files are waited for, for a while. */
TEST(test_hanging)
{
	set_hangs(true);
	for (int i = 0; i < TRACING_PROGRAM_HANGING_MAX; i++)
		assert_int_equal(tracing_program(getpid()), -ETIME);
	assert_int_equal(tracing_program(getpid()), -EAGAIN);
	set_hangs(false);
	assert_soon(tracing_program(getpid()) == 1);
	assert_int_equal(n_bad_closes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_other),
		cmocka_unit_test(test_hanging),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
