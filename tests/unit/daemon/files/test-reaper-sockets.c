/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sockets that the reaper shuts down although they stay open. */
#include "daemon/files/reaper-sockets.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/foreign-fds.h"
#include "tests/support/unit.h"

FIXTURE(setup)
{
	return foreign_fds_begin() < 0 || reaper_sockets_begin() < 0;
}

static bool has_ended(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

TEST(ends_connections)
{
	int kept[2], forgotten[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, kept), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, forgotten), 0);
	reaper_sockets_add(forgotten[0]);
	reaper_sockets_add(kept[0]);
	reaper_sockets_remove(forgotten[0]);
	reaper_sockets_remove(-1);
	reaper_sockets_shut_down();
	assert_true(has_ended(kept[1]));
	assert_false(has_ended(forgotten[1]));
	reaper_sockets_remove(kept[0]);
	for (unsigned i = 0; i < 2; i++) {
		close(kept[i]);
		close(forgotten[i]);
	}
}

/* A connection that was not accepted ends, too, and the next one is refused. */
TEST(ends_connections_that_wait)
{
	_cleanup_close_ int listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	_cleanup_close_ int waiting = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	_cleanup_close_ int late = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(address);

	/* (an abstract name, which the kernel chooses) */
	assert_int_equal(bind(listening, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	assert_int_equal(getsockname(listening, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(listen(listening, 4), 0);
	assert_int_equal(connect(waiting, (struct sockaddr *)&address, size), 0);
	reaper_sockets_add(listening);
	reaper_sockets_shut_down();
	assert_true(has_ended(waiting));
	assert_int_equal(connect(late, (struct sockaddr *)&address, size), -1);
	assert_int_equal(errno, ECONNREFUSED);
	reaper_sockets_remove(listening);
}

TEST(has_room_for_a_number_of_sockets)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	/* (these numbers are not open) */
	for (int i = 0; i < REAPER_SOCKETS_MAX; i++)
		reaper_sockets_add(10000 + i);
	reaper_sockets_add(pair[0]);
	reaper_sockets_shut_down();
	assert_false(has_ended(pair[1]));
	reaper_sockets_remove(10000);
	reaper_sockets_add(pair[0]);
	reaper_sockets_shut_down();
	assert_true(has_ended(pair[1]));
	close(pair[0]);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_connections),
		cmocka_unit_test(ends_connections_that_wait),
		cmocka_unit_test(has_room_for_a_number_of_sockets),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
