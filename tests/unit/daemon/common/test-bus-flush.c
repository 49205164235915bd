/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last messages to a bus that reads them, and to one that does not. */
#include "daemon/common/bus-flush.h"

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "tests/support/unit.h"

static sd_bus *ours, *theirs;
static int their_fd;

static sd_bus *open_end(int fd, bool is_server)
{
	sd_bus *b = NULL;
	sd_id128_t id;

	assert_true(sd_bus_new(&b) >= 0);
	if (is_server) {
		assert_true(sd_id128_randomize(&id) >= 0);
		assert_true(sd_bus_set_server(b, true, id) >= 0);
	}
	assert_true(sd_bus_set_fd(b, fd, fd) >= 0);
	assert_true(sd_bus_start(b) >= 0);
	return b;
}

static bool are_ready(void)
{
	sd_bus_process(ours, NULL);
	sd_bus_process(theirs, NULL);
	return sd_bus_is_ready(ours) > 0 && sd_bus_is_ready(theirs) > 0;
}

static uint64_t count_queued(void)
{
	uint64_t n = 0;

	assert_true(sd_bus_get_n_queued_write(ours, &n) >= 0);
	return n;
}

/* Sends messages until some do not fit into the socket. */
FIXTURE(setup)
{
	static char text[16384];
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
			 0);
	their_fd = fds[1];
	ours = open_end(fds[0], false);
	theirs = open_end(fds[1], true);
	assert_soon(are_ready());
	memset(text, 'x', sizeof(text) - 1);
	for (unsigned i = 0; i < 10000 && count_queued() < 10; i++)
		assert_true(sd_bus_emit_signal(ours, "/", "org.example.Any", "Thing", "s", text) >=
			    0);
	assert_true(count_queued() >= 10);
	return 0;
}

FIXTURE(teardown)
{
	ours = sd_bus_close_unref(ours);
	theirs = sd_bus_close_unref(theirs);
	return 0;
}

static void *read_all(void *userdata)
{
	char bytes[4096];
	ssize_t n;

	(void)userdata;
	while ((n = recv(their_fd, bytes, sizeof(bytes), MSG_DONTWAIT)) != 0)
		if (n < 0)
			usleep(1000);
	return NULL;
}

TEST(sends_everything_to_a_bus_that_reads)
{
	pthread_t reader;

	assert_int_equal(pthread_create(&reader, NULL, read_all, NULL), 0);
	bus_flush(ours);
	assert_int_equal(count_queued(), 0);
	shutdown(sd_bus_get_fd(ours), SHUT_RDWR);
	pthread_join(reader, NULL);
}

TEST(does_not_wait_for_a_bus_that_is_stopped)
{
	uint64_t begin_ns = clock_boot_ns();

	bus_flush(ours);
	assert_true(clock_boot_ns() - begin_ns >= BUS_FLUSH_NS);
	/* The connection has ended. */
	assert_true(sd_bus_is_ready(ours) <= 0);
	bus_flush(ours);
}

TEST(ignores_a_bus_that_is_not_connected)
{
	sd_bus *b = NULL;

	assert_true(sd_bus_new(&b) >= 0);
	bus_flush(b);
	sd_bus_unref(b);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(sends_everything_to_a_bus_that_reads),
		CASE(does_not_wait_for_a_bus_that_is_stopped),
		cmocka_unit_test(ignores_a_bus_that_is_not_connected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
