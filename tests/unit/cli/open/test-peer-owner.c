/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/open/peer-owner.h"
#include "tests/support/unit.h"

enum { NOBODY = 65534, PORT = 9001, CLIENT_PORT = 40000 };

static struct sockaddr_in ipv4(const char *address, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };

	assert_int_equal(inet_pton(AF_INET, address, &a.sin_addr), 1);
	return a;
}

/* Searches 127.0.0.1:40000 -> 127.0.0.1:9001 in TEXT. */
static int find(const char *text, uid_t *ret)
{
	struct sockaddr_in from = ipv4("127.0.0.1", CLIENT_PORT), to = ipv4("127.0.0.1", PORT);
	FILE *table = fmemopen((char *)text, strlen(text), "r");
	int r;

	assert_non_null(table);
	r = peer_owner_find(table, &from, &to, ret);
	fclose(table);
	return r;
}

#define HEAD                                                                                       \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
#define ROW(from, to, state, uid, inode)                                                           \
	"   7: " from " " to " " state " 00000000:00000000 00:00000000 00000000 " uid " 0 " inode  \
	" 1 0000000000000000 20 4 30 10 -1\n"
#define SERVER "0100007F:2329"
#define CLIENT "0100007F:9C40"
#define MAPPED "0000000000000000FFFF0000"

TEST(test_tables)
{
	static const struct {
		const char *text;
		int r;
		uid_t uid;
	} rows[] = {
		{ HEAD ROW(CLIENT, SERVER, "01", " 1000", "77"), 0, 1000 },
		{ HEAD ROW(CLIENT, SERVER, "08", "    0", "77"), 0, 0 },
		{ HEAD ROW(SERVER, CLIENT, "01", "    5", "76")
			  ROW(CLIENT, SERVER, "01", "6", "77"),
		  0, 6 },
		{ HEAD ROW(MAPPED CLIENT, MAPPED SERVER, "01", "4294967294", "77"), 0, 4294967294 },
		/* The test's own end, other ports, other addresses. */
		{ HEAD ROW(SERVER, CLIENT, "01", "1000", "77"), -ENOENT, 0 },
		{ HEAD ROW("0100007F:9C41", SERVER, "01", "1000", "77"), -ENOENT, 0 },
		{ HEAD ROW("0200007F:9C40", SERVER, "01", "1000", "77"), -ENOENT, 0 },
		{ HEAD ROW(CLIENT, "0200007F:2329", "01", "1000", "77"), -ENOENT, 0 },
		{ HEAD ROW("000000000000000000000000" CLIENT, MAPPED SERVER, "01", "5", "77"),
		  -ENOENT, 0 },
		/* No process holds them any more: the user is then always 0. */
		{ HEAD ROW(CLIENT, SERVER, "06", "0", "0"), -ENOENT, 0 },
		{ HEAD ROW(CLIENT, SERVER, "05", "0", "0"), -ENOENT, 0 },
		/* An unknown format. */
		{ HEAD "   7: " CLIENT " " SERVER " 01\n", -ENOENT, 0 },
		{ HEAD "\n\n   7:\n", -ENOENT, 0 },
		{ HEAD "7: " CLIENT CLIENT CLIENT CLIENT CLIENT CLIENT " x 01 0:0 0:0 0 5 0 9\n",
		  -ENOENT, 0 },
		{ HEAD, -ENOENT, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uid_t uid = 99;

		if (find(rows[i].text, &uid) != rows[i].r ||
		    uid != (rows[i].r == 0 ? rows[i].uid : 99))
			fail_msg("row %zu: uid %u", i, (unsigned)uid);
	}
}

struct pair {
	int listening, client, server;
};

/* A connection to 127.0.0.1 whose other end is a socket of FAMILY that user UID made. */
static struct pair connect_as(int family, uid_t uid)
{
	struct sockaddr_in to = ipv4("127.0.0.1", 0);
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6 };
	socklen_t n = sizeof(to);
	uid_t before = geteuid();
	struct pair p;

	p.listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(p.listening >= 0);
	assert_int_equal(bind(p.listening, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(listen(p.listening, 1), 0);
	assert_int_equal(getsockname(p.listening, (struct sockaddr *)&to, &n), 0);
	assert_int_equal(seteuid(uid), 0);
	p.client = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(seteuid(before), 0);
	if (p.client < 0)
		return p;
	to6.sin6_port = to.sin_port;
	assert_int_equal(inet_pton(AF_INET6, "::ffff:127.0.0.1", &to6.sin6_addr), 1);
	if (family == AF_INET)
		assert_int_equal(connect(p.client, (struct sockaddr *)&to, sizeof(to)), 0);
	else
		assert_int_equal(connect(p.client, (struct sockaddr *)&to6, sizeof(to6)), 0);
	p.server = accept(p.listening, NULL, NULL);
	assert_true(p.server >= 0);
	return p;
}

static void close_pair(const struct pair *p)
{
	close(p->server);
	close(p->listening);
}

static void check_owner(int family, uid_t uid)
{
	struct pair p = connect_as(family, uid);
	uid_t owner = 99;

	if (p.client < 0) {
		print_message("no sockets of family %d here\n", family);
		close(p.listening);
		return;
	}
	assert_int_equal(peer_owner(p.server, &owner), 0);
	assert_int_equal(owner, uid);
	/* Half closed, it still has its owner. Closed, it does not count as root's. */
	shutdown(p.client, SHUT_WR);
	owner = 99;
	assert_int_equal(peer_owner(p.server, &owner), 0);
	assert_int_equal(owner, uid);
	close(p.client);
	owner = uid;
	peer_owner(p.server, &owner); /* kernels from 6.17 on may still know it */
	assert_int_equal(owner, uid);
	close_pair(&p);
}

TEST(test_own)
{
	check_owner(AF_INET, geteuid());
	check_owner(AF_INET6, geteuid());
}

TEST(test_other_user)
{
	if (geteuid() != 0)
		skip();
	check_owner(AF_INET, 1234);
	check_owner(AF_INET6, 1234);
	check_owner(AF_INET, NOBODY);
}

TEST(test_no_connection)
{
	int sockets[2];
	uid_t owner;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	assert_int_equal(peer_owner(sockets[0], &owner), -EAFNOSUPPORT);
	close(sockets[0]);
	close(sockets[1]);
	assert_true(peer_owner(-1, &owner) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_other_user),
		cmocka_unit_test(test_no_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
