/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections to the private socket that do not behave: they do not read, send large messages, are
 * too many, leave descriptors in their queue, or lie about their sender. The service closes them,
 * and answers others. The socket is in KYMO_TEST_SOCKET, and the bus in KYMO_TEST_BUS. The service
 * is kymod-fake, which aborts if it closes a descriptor of a client itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "tests/bus/ask-service.h"

enum { CONNECTIONS = 40, CALLS = 100000, LARGE = 1 << 20 };

static int connect_socket(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", getenv("KYMO_TEST_SOCKET"));
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static sd_bus *connect_direct(void)
{
	int fd = connect_socket();
	sd_bus *b = NULL;

	assert_int_equal(sd_bus_new(&b), 0);
	assert_true(sd_bus_negotiate_fds(b, true) >= 0);
	assert_true(sd_bus_set_fd(b, fd, fd) >= 0);
	assert_true(sd_bus_set_method_call_timeout(b, ANSWER_USEC) >= 0);
	assert_true(sd_bus_start(b) >= 0);
	return b;
}

/* Checks that the service answers on the bus, and on another connection. */
static void assert_service_answers(void)
{
	sd_bus *b = connect_direct();

	assert_true(sd_bus_call_method(bus, NAME, MANAGER_PATH, "org.freedesktop.DBus.Peer", "Ping",
				       NULL, NULL, NULL) >= 0);
	assert_true(sd_bus_call_method(b, NAME, MANAGER_PATH, MANAGER_INTERFACE, "ListSessions",
				       NULL, NULL, NULL) >= 0);
	sd_bus_flush_close_unref(b);
}

static sd_bus_message *direct_call(sd_bus *b, const char *method)
{
	sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_method_call(b, &m, NAME, MANAGER_PATH, MANAGER_INTERFACE,
						   method) >= 0);
	return m;
}

static void without_reading(void **state)
{
	sd_bus *b = connect_direct();
	int r = 0;

	(void)state;
	assert_service_answers();
	while ((r = sd_bus_is_ready(b)) == 0) {
		assert_true(sd_bus_process(b, NULL) >= 0);
		assert_true(sd_bus_wait(b, 100000) >= 0);
	}
	/* The socket is full of answers, then the service closes it. */
	for (int i = 0; i < CALLS && r >= 0; i++) {
		sd_bus_message *m = direct_call(b, "GetCapabilities");
		uint64_t cookie;

		/* (without a cookie, the service does not answer) */
		r = sd_bus_send(b, m, &cookie);
		sd_bus_message_unref(m);
		if (r >= 0)
			r = sd_bus_flush(b);
	}
	assert_true(r < 0);
	assert_service_answers();
	sd_bus_close_unref(b);
}

static void large_message(void **state)
{
	sd_bus *b = connect_direct();
	sd_bus_message *m = direct_call(b, "SnapshotAll");
	char *text = malloc(LARGE);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', LARGE - 1);
	text[LARGE - 1] = '\0';
	assert_true(sd_bus_message_append(m, "s", text) >= 0);
	assert_true(sd_bus_call(b, m, ANSWER_USEC, NULL, NULL) < 0);
	free(text);
	sd_bus_message_unref(m);
	sd_bus_close_unref(b);
	assert_service_answers();
}

static void many_connections(void **state)
{
	int fds[CONNECTIONS], n_open = 0;

	(void)state;
	for (int i = 0; i < CONNECTIONS; i++)
		fds[i] = connect_socket();
	/* The surplus is closed. */
	for (int i = CONNECTIONS - 1; i >= CONNECTIONS - 8; i--) {
		char byte;

		assert_int_equal(recv(fds[i], &byte, 1, 0) > 0, false);
	}
	for (int i = 0; i < CONNECTIONS; i++)
		n_open += close(fds[i]) == 0;
	assert_int_equal(n_open, CONNECTIONS);
	assert_soon(({
		sd_bus *b = connect_direct();
		int r = sd_bus_call_method(b, NAME, MANAGER_PATH, MANAGER_INTERFACE, "ListSessions",
					   NULL, NULL, NULL);

		sd_bus_close_unref(b);
		r >= 0;
	}));
	assert_service_answers();
}

/* Sends N descriptors with the bytes of TEXT. Returns false if the connection has ended. */
static bool send_descriptors(int to, const char *text, int n)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(8 * sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)text, strlen(text) + 1 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control };
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC), fds[8];
	ssize_t sent;

	for (int i = 0; i < n; i++)
		fds[i] = file;
	m.msg_controllen = CMSG_SPACE((size_t)n * sizeof(int));
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
	memcpy(CMSG_DATA(&control.header), fds, (size_t)n * sizeof(int));
	sent = sendmsg(to, &m, MSG_NOSIGNAL);
	close(file);
	return sent > 0;
}

static void descriptors(void **state)
{
	sd_bus *b = connect_direct();
	int file = open("/dev/null", O_WRONLY | O_CLOEXEC), fd = connect_socket();
	sd_bus_message *m = direct_call(b, "ListSessions");

	(void)state;
	/* with a call that takes none */
	assert_true(sd_bus_message_append(m, "h", file) >= 0);
	assert_true(sd_bus_call(b, m, ANSWER_USEC, NULL, NULL) < 0);
	sd_bus_message_unref(m);
	sd_bus_close_unref(b);
	/* before the authentication, and perhaps behind the end of the connection */
	assert_true(send_descriptors(fd, "", 8));
	send_descriptors(fd, "garbage", 8);
	close(fd);
	close(file);
	assert_service_answers();
}

/* A session that does not linger ends with the connection. Another one is not affected. */
static void end_of_owner(void **state)
{
	sd_bus *b = connect_direct(), *other = connect_direct();
	int fd = open_output();

	(void)state;
	assert_done(create(b, "bound", fd));
	assert_done(create(other, "other", fd));
	assert_true(exists(bus, "bound"));
	sd_bus_flush_close_unref(b);
	assert_soon(!exists(bus, "bound"));
	assert_true(exists(bus, "other"));
	sd_bus_flush_close_unref(other);
	assert_soon(!exists(bus, "other"));
	close(fd);
}

/*
 * The sender in a message is not used: a session belongs to the connection, and not to the client
 * on the bus that the message names.
 */
static void forged_sender(void **state)
{
	sd_bus *b = connect_direct();
	int fd = open_output();
	const char *name;

	(void)state;
	assert_true(sd_bus_get_unique_name(bus, &name) >= 0);
	assert_true(sd_bus_set_sender(b, name) >= 0);
	assert_done(create(b, "forged", fd));
	assert_true(exists(bus, "forged"));
	sd_bus_flush_close_unref(b);
	assert_soon(!exists(bus, "forged"));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_reading, setup_bus, teardown_bus),
		cmocka_unit_test_setup_teardown(large_message, setup_bus, teardown_bus),
		cmocka_unit_test_setup_teardown(many_connections, setup_bus, teardown_bus),
		cmocka_unit_test_setup_teardown(descriptors, setup_bus, teardown_bus),
		cmocka_unit_test_setup_teardown(end_of_owner, setup_bus, teardown_bus),
		cmocka_unit_test_setup_teardown(forged_sender, setup_bus, teardown_bus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
