/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "daemon/files/fd-sink.h"
#include "tests/support/unit.h"

static int ends[2];

FIXTURE(setup)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	return fd_sink_begin(ends[1]);
}

/* Sends N bytes, with FD three times. */
static void send_three(const char *bytes, size_t n, int fd)
{
	const int fds[] = { fd, fd, fd };
	union {
		char room[CMSG_SPACE(sizeof(fds))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t)bytes, n };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	assert_int_equal(sendmsg(ends[0], &m, 0), n);
}

/* The bytes arrive, the descriptors do not: after the sink, their files are closed. */
TEST(test_receive)
{
	uint8_t data[FD_SINK_BYTES];
	struct pollfd ended;
	unsigned n_fds = 0;
	char rest[8];
	int pipes[2];

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	for (int i = 0; i < 100; i++) {
		send_three("0123456789", 10, pipes[1]);
		assert_int_equal(fd_sink_receive(data, 4, &n_fds), 4);
		assert_memory_equal(data, "0123", 4);
		assert_int_equal(n_fds, 3);
		assert_int_equal(read(ends[1], rest, 6), 6);
		assert_memory_equal(rest, "456789", 6);
	}
	close(pipes[1]);
	ended = (struct pollfd){ .fd = pipes[0], .events = POLLIN };
	assert_int_equal(poll(&ended, 1, 10000), 1);
	assert_int_equal(read(pipes[0], rest, 1), 0);
	close(pipes[0]);
	/* A new sink is ready. */
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	send_three("0123", 4, pipes[1]);
	assert_int_equal(fd_sink_receive(data, sizeof(data), &n_fds), 4);
	assert_int_equal(n_fds, 3);
	assert_int_equal(fd_sink_receive(data, sizeof(data), &n_fds), -EAGAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_receive),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
