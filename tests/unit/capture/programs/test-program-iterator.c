/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads of an iterator that the kernel has ended early: it looks like a pipe that has nothing yet.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/programs/program-iterator.h"
#include "tests/support/unit.h"

struct writer {
	clockid_t reader_clock;
	uint64_t begin_ns;
	int fd;
};

static uint64_t time_of(clockid_t clock)
{
	struct timespec t;

	assert_int_equal(clock_gettime(clock, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Writes after the reader has worked for a while without success. */
static void *write_late(void *userdata)
{
	struct writer *w = userdata;

	while (time_of(w->reader_clock) - w->begin_ns < 2000000)
		usleep(100);
	assert_int_equal(write(w->fd, "abc", 3), 3);
	close(w->fd);
	return NULL;
}

TEST(test_continues)
{
	_cleanup_close_ int fd = -1;
	struct writer w;
	pthread_t thread;
	char buffer[8];
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	fd = fds[0];
	w.fd = fds[1];
	assert_int_equal(pthread_getcpuclockid(pthread_self(), &w.reader_clock), 0);
	w.begin_ns = time_of(w.reader_clock);
	assert_int_equal(pthread_create(&thread, NULL, write_late, &w), 0);
	assert_int_equal(program_iterator_read(fd, buffer, sizeof(buffer)), 3);
	pthread_join(thread, NULL);
	assert_int_equal(program_iterator_read(fd, buffer, sizeof(buffer)), 0);
}

TEST(test_fails)
{
	char buffer[8];

	assert_int_equal(program_iterator_read(-1, buffer, sizeof(buffer)), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_continues),
		cmocka_unit_test(test_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
