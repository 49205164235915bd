/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections of programs that send descriptors, which no packet has.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/providers/provider-links.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/test-provider-links-XXXXXX";
static struct provider_links *links;

static void open_links(void)
{
	char why[VALUE_WHY_MAX];

	assert_non_null(mkdtemp(dir));
	assert_int_equal(setenv("KYMO_PROVIDER_DIR", dir, 1), 0);
	assert_int_equal(provider_links_new(&links, why), 0);
}

static void close_links(void)
{
	static const char *const names[] = { PROVIDER_DOORBELL, PROVIDER_SOCKET ".lock" };
	char path[128];

	provider_links_free(links);
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(dir), 0);
	memset(dir + strlen(dir) - 6, 'X', 6);
}

static int connect_program(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/" PROVIDER_SOCKET, dir);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Makes a socket with unsent data, whose last close waits for an hour, and its PEER. */
static int make_lingering(int *peer)
{
	static char bytes[65536];
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	struct linger linger = { 1, 3600 };
	_cleanup_close_ int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, size), 0);
	*peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return fd;
}

/* Sends N bytes of a packet with the name of a program, and the descriptor PASSED unless it is -1.
 */
static void send_hello(int fd, size_t n, int passed)
{
	static struct provider_message hello = { .kind = PROVIDER_HELLO,
						 .version = PROVIDER_WIRE_VERSION,
						 .text_bytes = 4,
						 .text = "evil" };
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr head;
	} control = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec part = { &hello, n };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (passed >= 0) {
		memcpy(CMSG_DATA(&control.head), &passed, sizeof(passed));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
	}
	assert_int_equal(sendmsg(fd, &m, 0), n);
}

static bool poll_until_dropped(uint64_t n)
{
	provider_links_renew(links);
	provider_links_poll(links);
	return provider_links_counts(links)->dropped >= n;
}

/* Each of these would make the recorder wait for an hour. */
TEST(waits_for_no_close_of_a_passed_descriptor)
{
	enum { ALL = PROVIDER_MESSAGE_HEAD + 4 };
	int fds[4], peers[4];

	open_links();
	for (unsigned i = 0; i < 4; i++) {
		_cleanup_close_ int passed = make_lingering(&peers[i]);

		fds[i] = connect_program();
		/* With a right packet, an empty one, behind a wrong one, and not accepted. */
		if (i == 2)
			send_hello(fds[i], 1, -1);
		send_hello(fds[i], i == 1 ? 0 : ALL, passed);
		if (i < 3)
			assert_soon(poll_until_dropped(i + 1));
	}
	close_links();
	for (unsigned i = 0; i < 4; i++) {
		close(fds[i]);
		close(peers[i]);
	}
}

TEST(takes_a_packet_without_descriptors)
{
	size_t pos = 0;
	int fd;

	open_links();
	fd = connect_program();
	send_hello(fd, PROVIDER_MESSAGE_HEAD + 4, -1);
	assert_false(poll_until_dropped(1));
	assert_false(poll_until_dropped(1));
	assert_string_equal(provider_links_next(links, &pos)->name, "evil");
	close_links();
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_no_close_of_a_passed_descriptor),
		cmocka_unit_test(takes_a_packet_without_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
