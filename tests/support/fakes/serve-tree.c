/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serve-tree DIRECTORY: an HTTP server for tests, on a port of 127.0.0.1 that it prints first. GET
 * returns files below DIRECTORY, one connection after the other. Each request is printed as a line
 * ("GET /PATH 200"). A signal ends it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { REQUEST_MAX = 8192 };

static void die(const char *what)
{
	fprintf(stderr, "serve-tree: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int listen_anywhere(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 16) < 0 || getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		die("listen");
	printf("%u\n", (unsigned)ntohs(address.sin_port));
	fflush(stdout);
	return fd;
}

/* Reads the request up to its empty line, as text. Returns false if there is none. */
static bool read_request(int fd, char *to)
{
	size_t have = 0;
	ssize_t n;

	while (have < REQUEST_MAX - 1 && (n = read(fd, to + have, REQUEST_MAX - 1 - have)) > 0) {
		have += (size_t)n;
		to[have] = '\0';
		if (strstr(to, "\r\n\r\n"))
			return true;
	}
	return false;
}

/* Opens the file for PATH of a request; -1 = not available. */
static int open_file(int root, const char *path, struct stat *ret)
{
	int fd = -1;

	if (path[0] == '/' && !strstr(path, ".."))
		fd = openat(root, path + 1, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, ret) < 0 || !S_ISREG(ret->st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void answer(int root, int connection)
{
	char request[REQUEST_MAX], head[256], method[8], path[1024];
	struct stat st = { 0 };
	int fd, n;

	if (!read_request(connection, request) || sscanf(request, "%7s %1023s", method, path) != 2)
		return;
	fd = strcmp(method, "GET") == 0 ? open_file(root, path, &st) : -1;
	n = snprintf(head, sizeof(head),
		     "HTTP/1.1 %s\r\nContent-Type: application/octet-stream\r\n"
		     "Content-Length: %lld\r\nConnection: close\r\n\r\n",
		     fd < 0 ? "404 Not Found" : "200 OK", (long long)st.st_size * (fd >= 0));
	printf("%s %s %d\n", method, path, fd < 0 ? 404 : 200);
	fflush(stdout);
	if (write(connection, head, (size_t)n) == n && fd >= 0)
		while (sendfile(connection, fd, NULL, 1 << 20) > 0)
			;
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	const struct timeval limit = { .tv_sec = 10 };
	int root = argc == 2 ? open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC) : -1, listener;

	if (root < 0)
		die("which directory?");
	signal(SIGPIPE, SIG_IGN);
	listener = listen_anywhere();
	for (;;) {
		int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (connection < 0)
			die("accept");
		setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
		answer(root, connection);
		close(connection);
	}
}
