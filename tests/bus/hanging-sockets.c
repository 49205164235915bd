/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/bus/hanging-sockets.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "provider/provider-wire.h"
#include "tests/bus/ask-service.h"

enum { WAITING = 128, CONNECT_SECONDS = 3 };

int hanging_sockets_listen(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int room = 4096;

	CHECK(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) == 0);
	CHECK(bind(listener, (struct sockaddr *)&here, sizeof(here)) == 0);
	CHECK(listen(listener, WAITING) == 0);
	return listener;
}

int hanging_sockets_new(int listener, int *ret_peer)
{
	const struct linger linger = { 1, 600 };
	const int room = 4096;
	struct sockaddr_in to;
	socklen_t size = sizeof(to);
	char bytes[4096] = { 0 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(getsockname(listener, (struct sockaddr *)&to, &size) == 0);
	CHECK(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) == 0);
	CHECK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) == 0);
	CHECK(connect(fd, (struct sockaddr *)&to, size) == 0);
	*ret_peer = accept(listener, NULL, NULL);
	CHECK(*ret_peer >= 0);
	for (int i = 0; i < 100000 && send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0; i++)
		;
	return fd;
}

bool hanging_sockets_send(int socket, int fd)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t) "x", 1 };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(socket, &m, MSG_NOSIGNAL) == 1;
}

void hanging_sockets_close(int fd)
{
	const struct linger none = { 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(fd);
}

int hanging_sockets_connect_program(void)
{
	const struct timeval limit = { .tv_sec = CONNECT_SECONDS };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/" PROVIDER_SOCKET,
		 getenv("KYMO_PROVIDER_DIR") ?: PROVIDER_RUN_DIR);
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}
