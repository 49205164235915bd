/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bus/kymo-bus.h"
#include "tests/support/unit.h"

enum { QUEUE_MAX = 64, TRY_USEC = 100000 };

static struct sockaddr_un address = { .sun_family = AF_UNIX };
static char bus_address[sizeof(address.sun_path) + 16];

/* Chooses an address that nobody else has. */
static void choose_address(const char *name)
{
	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/kymo-test-bus-%d-%s", getpid(),
		 name);
	snprintf(bus_address, sizeof(bus_address), "unix:path=%s", address.sun_path);
}

/* A socket that accepts no connection. */
static int listen_only(int backlog)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, backlog), 0);
	return fd;
}

static int connect_now(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close_fd(fd);
	return -1;
}

TEST(test_no_bus)
{
	choose_address("none");
	assert_int_equal(kymo_bus_try(bus_address, TRY_USEC), -ENOENT);
}

TEST(test_left_socket)
{
	choose_address("left");
	close_fd(listen_only(1));
	assert_int_equal(kymo_bus_try(bus_address, TRY_USEC), -ECONNREFUSED);
	unlink(address.sun_path);
}

TEST(test_silent_bus)
{
	int fd;

	choose_address("silent");
	fd = listen_only(8);
	assert_int_equal(kymo_bus_try(bus_address, TRY_USEC), -ETIMEDOUT);
	close_fd(fd);
	unlink(address.sun_path);
}

/* The kernel refuses further connections at once. */
TEST(test_full_queue)
{
	int fd, fds[QUEUE_MAX], n = 0;

	choose_address("full");
	fd = listen_only(1);
	while (n < QUEUE_MAX && (fds[n] = connect_now()) >= 0)
		n++;
	assert_true(n < QUEUE_MAX);
	assert_int_equal(kymo_bus_try(bus_address, TRY_USEC), -ETIMEDOUT);
	while (n > 0)
		close_fd(fds[--n]);
	close_fd(fd);
	unlink(address.sun_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_bus),
		cmocka_unit_test(test_left_socket),
		cmocka_unit_test(test_silent_bus),
		cmocka_unit_test(test_full_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
