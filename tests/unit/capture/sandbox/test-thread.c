/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/sandbox/thread.h"
#include "capture/sandbox/thread-identity.h"
#include "tests/support/unit.h"

static bool readable(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, timeout_ms) == 1;
}

TEST(test_signal)
{
	_cleanup_close_ int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	assert_false(readable(fd, 0));
	thread_quiet(fd);
	assert_false(readable(fd, 0));
	thread_signal(fd);
	thread_signal(fd);
	assert_true(readable(fd, 0));
	thread_quiet(fd);
	assert_false(readable(fd, 0));
}

/* The counter is at its maximum. It only needs to be readable. */
TEST(test_signal_overflow)
{
	_cleanup_close_ int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint64_t most = UINT64_MAX - 1;

	assert_int_equal(write(fd, &most, sizeof(most)), sizeof(most));
	thread_signal(fd);
	assert_true(readable(fd, 0));
	thread_quiet(fd);
	assert_false(readable(fd, 0));
}

static void *inspect_nice(void *userdata)
{
	int *fds = userdata;

	fds[1] = getpriority(PRIO_PROCESS, 0);
	thread_signal(fds[0]);
	return NULL;
}

/*
 * The draining thread has a higher priority. Its helpers and the programs that it executes do not.
 */
TEST(test_raise_priority)
{
	int fd_and_nice[2] = { eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), 0 };
	int before = getpriority(PRIO_PROCESS, 0);

	thread_reset_priority(); /* no thread has it: no change */
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
	thread_raise_priority();
	assert_true(getpriority(PRIO_PROCESS, 0) <= before);
	assert_int_equal(thread_start(inspect_nice, fd_and_nice), 0);
	assert_true(readable(fd_and_nice[0], 5000));
	assert_int_equal(fd_and_nice[1], before);
	thread_reset_priority();
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
	close(fd_and_nice[0]);
}

struct started {
	int event_fd;
	sigset_t blocked;
};

static void *inspect_mask(void *userdata)
{
	struct started *s = userdata;

	pthread_sigmask(SIG_SETMASK, NULL, &s->blocked);
	thread_signal(s->event_fd);
	return NULL;
}

TEST(test_start)
{
	struct started s = { .event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	static const int signals[] = {
		SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGUSR1, SIGXFSZ
	};
	sigset_t before, after;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	assert_int_equal(thread_start(inspect_mask, &s), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_true(readable(s.event_fd, 10000));
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		assert_true(sigismember(&s.blocked, signals[i]));
		assert_int_equal(sigismember(&before, signals[i]), sigismember(&after, signals[i]));
	}
	close_fd(s.event_fd);
}

struct somebody {
	int event_fd, error, dumpable;
	char status[4096];
};

static void read_status(const char *path, char status[static 4096])
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(status, 1, 4095, f) : 0;

	status[n] = '\0';
	if (f)
		fclose(f);
}

static void *be_somebody(void *userdata)
{
	static const struct thread_identity id = { .other = true, .uid = 4711 };
	struct somebody *s = userdata;

	s->error = thread_identity_assume(&id);
	s->dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	read_status("/proc/thread-self/status", s->status);
	thread_signal(s->event_fd);
	return NULL;
}

/*
 * One thread accesses files as another user, without privileges. All other threads, and the
 * process, are unchanged.
 */
TEST(test_identity)
{
	struct somebody s = { .event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	int dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	const struct thread_identity root = thread_identity_of(0);
	char before[4096], after[4096];

	assert_int_equal(thread_identity_assume(&root), 0);
	read_status("/proc/thread-self/status", before);
	assert_int_equal(thread_start(be_somebody, &s), 0);
	assert_true(readable(s.event_fd, 10000));
	close_fd(s.event_fd);
	if (geteuid() != 0) {
		assert_int_equal(s.error, -EPERM);
		return;
	}
	assert_int_equal(s.error, 0);
	assert_int_equal(s.dumpable, dumpable);
	assert_non_null(strstr(s.status, "\nUid:\t0\t0\t0\t4711\n"));
	assert_non_null(strstr(s.status, "\nGid:\t0\t0\t0\t65534\n"));
	assert_non_null(strstr(s.status, "\nGroups:\t \n"));
	assert_non_null(strstr(s.status, "\nCapEff:\t0000000000000000\n"));
	assert_non_null(strstr(s.status, "\nCapPrm:\t0000000000000000\n"));
	read_status("/proc/thread-self/status", after);
	for (const char *key = "Uid:\0Gid:\0Groups:\0CapEff:\0CapPrm:\0"; *key;
	     key += strlen(key) + 1) {
		const char *a = strstr(before, key), *b = strstr(after, key);

		assert_true(a && b);
		assert_memory_equal(a, b, strcspn(a, "\n"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signal),         cmocka_unit_test(test_signal_overflow),
		cmocka_unit_test(test_raise_priority), cmocka_unit_test(test_start),
		cmocka_unit_test(test_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
