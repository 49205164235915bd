/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections of programs that send descriptors, which no packet has, and connections for which
 * there is no room.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/providers/provider-links.h"
#include "capture/providers/provider-passed.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/test-provider-links-XXXXXX";
static struct provider_links *links;

static void open_links(void)
{
	char why[VALUE_WHY_MAX];

	assert_non_null(mkdtemp(dir));
	assert_int_equal(setenv("KYMO_PROVIDER_DIR", dir, 1), 0);
	assert_int_equal(provider_links_new(&links, "test", why), 0);
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
	const int small = 4096;
	_cleanup_close_ int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
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
		int passed = make_lingering(&peers[i]);

		fds[i] = connect_program();
		/* With a right packet, an empty one, behind a wrong one, and not accepted. */
		if (i == 2)
			send_hello(fds[i], 1, -1);
		send_hello(fds[i], i == 1 ? 0 : ALL, passed);
		/* (not the last close: the packet has the descriptor) */
		close(passed);
		if (i < 3)
			assert_soon(poll_until_dropped(i + 1));
	}
	close_links();
	for (unsigned i = 0; i < 4; i++) {
		close(fds[i]);
		close(peers[i]);
	}
}

static unsigned count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned n = 0;

	assert_non_null(tasks);
	for (const struct dirent *entry; (entry = readdir(tasks));)
		n += entry->d_name[0] != '.';
	closedir(tasks);
	return n;
}

/* One user cannot have all threads, and none for long. */
TEST(closes_of_a_user_share_threads)
{
	enum { N = PROVIDER_PASSED_CLOSES_PER_USER + 8 };
	int pairs[N][2], peers[N];
	unsigned n_before = count_threads();

	for (unsigned i = 0; i < N; i++) {
		_cleanup_close_ int passed = make_lingering(&peers[i]);

		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pairs[i]), 0);
		send_hello(pairs[i][0], 1, passed);
	}
	for (unsigned i = 0; i < N; i++)
		provider_passed_close(pairs[i][1], 1000);
	assert_true(count_threads() <= n_before + PROVIDER_PASSED_CLOSES_PER_USER);
	assert_false(provider_passed_is_full());
	assert_soon(count_threads() <= n_before);
	for (unsigned i = 0; i < N; i++) {
		assert_int_equal(fcntl(pairs[i][1], F_GETFD), -1);
		close(pairs[i][0]);
		close(peers[i]);
	}
}

static bool is_closed(int fd)
{
	char byte;

	provider_links_renew(links);
	provider_links_poll(links);
	return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

static bool has_rung(int bell)
{
	struct pollfd pfd = { .fd = bell, .events = POLLIN };

	provider_links_renew(links);
	return poll(&pfd, 1, 0) > 0;
}

static unsigned count_links(void)
{
	unsigned n = 0;

	provider_links_renew(links);
	provider_links_poll(links);
	for (size_t pos = 0; provider_links_next(links, &pos);)
		n++;
	return n;
}

/* A program that was refused waits for the doorbell. */
TEST(calls_back_when_there_is_room)
{
	int fds[PROVIDER_LINKS_MAX + 1];
	struct provider_link *link;
	size_t pos = 0;
	char path[128];
	int bell;

	open_links();
	for (unsigned i = 0; i < PROVIDER_LINKS_MAX; i++) {
		fds[i] = connect_program();
		assert_soon(count_links() == i + 1);
	}
	snprintf(path, sizeof(path), "%s/" PROVIDER_DOORBELL, dir);
	bell = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	fds[PROVIDER_LINKS_MAX] = connect_program();
	assert_soon(is_closed(fds[PROVIDER_LINKS_MAX]));
	assert_int_equal(provider_links_counts(links)->refused, 1);
	assert_false(has_rung(bell));
	link = provider_links_next(links, &pos);
	provider_links_drop(links, link);
	assert_soon(has_rung(bell));
	close_links();
	close(bell);
	for (unsigned i = 0; i <= PROVIDER_LINKS_MAX; i++)
		close(fds[i]);
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

static bool stuck;
static unsigned n_asked;

static bool is_stuck(uint32_t uid)
{
	assert_int_equal(uid, geteuid());
	n_asked++;
	return stuck;
}

static bool renewed_and_asked(unsigned n)
{
	count_links();
	return n_asked >= n;
}

static bool has_links(unsigned n)
{
	return count_links() == n;
}

static unsigned count_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* One connection waits until descriptors of its user can be closed. The others are not accepted. */
TEST(keeps_one_connection_of_a_user_who_is_stuck)
{
	unsigned n_before = count_descriptors(), n_open;
	char path[128];
	int fds[3], bell;

	open_links();
	provider_links_set_ops(links, &(struct provider_links_ops){ .is_stuck = is_stuck });
	snprintf(path, sizeof(path), "%s/" PROVIDER_DOORBELL, dir);
	bell = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	stuck = true;
	n_asked = 0;
	for (unsigned i = 0; i < 3; i++)
		fds[i] = connect_program();
	n_open = count_descriptors();
	assert_soon(is_closed(fds[0]));
	assert_int_equal(n_asked, 1);
	/* (asked again after a second, and after another one) */
	assert_soon(renewed_and_asked(3));
	assert_int_equal(count_links(), 0);
	assert_true(count_descriptors() <= n_open + 1);
	stuck = false;
	assert_soon(has_links(2));
	assert_soon(has_rung(bell));
	/* The end of the links closes the connection, too. */
	stuck = true;
	close(fds[0]);
	fds[0] = connect_program();
	assert_soon(is_closed(fds[0]));
	close_links();
	for (unsigned i = 0; i < 3; i++)
		close(fds[i]);
	close(bell);
	assert_soon(count_descriptors() <= n_before);
}

/* Whether the loop of a recorder has no work, although a program waits. */
static bool is_quiet(void)
{
	struct pollfd pfd = { .fd = provider_links_fd(links), .events = POLLIN };

	provider_links_poll(links);
	return poll(&pfd, 1, 0) == 0;
}

/* Without descriptors, the recorder does not spin, and it accepts when there are some again. */
TEST(accepts_when_descriptors_are_free_again)
{
	struct rlimit before, none;
	bool was_quiet;
	int fd;

	open_links();
	fd = connect_program();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ 1, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	was_quiet = is_quiet();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(was_quiet);
	assert_soon(has_links(1));
	close_links();
	close(fd);
}

/* Connects as user UID until a connection is refused. Returns the number of those that are not. */
static unsigned connect_all(int fds[], uid_t uid)
{
	uint64_t refused = provider_links_counts(links)->refused;
	unsigned before = count_links(), n = 0;

	while (provider_links_counts(links)->refused == refused) {
		assert_int_equal(seteuid(uid), 0);
		fds[n++] = connect_program();
		assert_int_equal(seteuid(0), 0);
		assert_soon(count_links() == before + n ||
			    provider_links_counts(links)->refused > refused);
	}
	close(fds[--n]);
	return n;
}

/* A user with several uids cannot have all places. */
TEST(users_leave_places)
{
	int fds[PROVIDER_LINKS_MAX + 8];
	unsigned n, n_all = 0;

	if (geteuid() != 0)
		skip();
	open_links();
	n_all += n = connect_all(fds, 1000);
	assert_int_equal(n, 64);
	n_all += n = connect_all(fds + n_all, 1001);
	assert_int_equal(n, 32);
	n_all += n = connect_all(fds + n_all, 1002);
	assert_int_equal(n, 16);
	/* (the rest is for root) */
	n_all += n = connect_all(fds + n_all, 1003);
	assert_int_equal(n, 0);
	n_all += n = connect_all(fds + n_all, 0);
	assert_int_equal(n, PROVIDER_LINKS_OF_ROOT);
	assert_int_equal(n_all, PROVIDER_LINKS_MAX);
	close_links();
	for (unsigned i = 0; i < n_all; i++)
		close(fds[i]);
}

/* A connection without a name keeps its place for ten seconds only. */
TEST(drops_a_program_that_says_nothing)
{
	struct provider_link *silent, *known;
	size_t pos = 0;
	int fds[2];

	open_links();
	for (unsigned i = 0; i < 2; i++) {
		fds[i] = connect_program();
		assert_soon(has_links(i + 1));
		if (i == 0)
			send_hello(fds[i], PROVIDER_MESSAGE_HEAD + 4, -1);
	}
	known = provider_links_next(links, &pos);
	silent = provider_links_next(links, &pos);
	if (silent->number < known->number) {
		struct provider_link *other = silent;

		silent = known;
		known = other;
	}
	assert_soon(count_links() == 2 && *known->name);
	silent->since_ns -= PROVIDER_HELLO_NS;
	known->since_ns -= PROVIDER_HELLO_NS;
	assert_soon(is_closed(fds[1]));
	assert_int_equal(provider_links_counts(links)->dropped, 1);
	assert_soon(has_links(1));
	assert_false(is_closed(fds[0]));
	close_links();
	close(fds[0]);
	close(fds[1]);
}

static unsigned n_opened, n_closing;
static bool is_told[1024];

static void note_opened(int fd)
{
	assert_false(is_told[fd]);
	is_told[fd] = true;
	n_opened++;
}

static void note_closing(int fd)
{
	assert_true(is_told[fd]);
	assert_true(fcntl(fd, F_GETFD) >= 0);
	is_told[fd] = false;
	n_closing++;
}

/* A service knows all sockets that are open, also the one that listens. */
TEST(tells_which_sockets_are_open)
{
	const struct provider_links_ops ops = { .opened = note_opened, .closes = note_closing };
	struct provider_link *link;
	size_t pos = 0;
	int fds[2];

	open_links();
	provider_links_set_ops(links, &ops);
	assert_int_equal(n_opened, 1);
	for (unsigned i = 0; i < 2; i++)
		fds[i] = connect_program();
	assert_soon(has_links(2));
	assert_int_equal(n_opened, 3);
	link = provider_links_next(links, &pos);
	provider_links_drop(links, link);
	assert_int_equal(n_closing, 1);
	close_links();
	assert_int_equal(n_closing, 3);
	for (unsigned i = 0; i < 2; i++)
		close(fds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_no_close_of_a_passed_descriptor),
		cmocka_unit_test(closes_of_a_user_share_threads),
		cmocka_unit_test(calls_back_when_there_is_room),
		cmocka_unit_test(takes_a_packet_without_descriptors),
		cmocka_unit_test(keeps_one_connection_of_a_user_who_is_stuck),
		cmocka_unit_test(accepts_when_descriptors_are_free_again),
		cmocka_unit_test(users_leave_places),
		cmocka_unit_test(drops_a_program_that_says_nothing),
		cmocka_unit_test(tells_which_sockets_are_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
