/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/providers/provider-socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/foreign-fds.h"
#include "capture/providers/provider-passed.h"
#include "provider/provider-wire.h"

#define PROVIDER_LOCK PROVIDER_SOCKET ".lock"

enum { BACKLOG = 128, OWNER_BYTES = 40 };

static const char *provider_socket_dir(void)
{
	return secure_getenv("KYMO_PROVIDER_DIR") ?: PROVIDER_RUN_DIR;
}

static int provider_socket_refuse(int error, const char *what, char *why)
{
	snprintf(why, VALUE_WHY_MAX, "%s %.100s: %s", what, provider_socket_dir(),
		 strerror(-error));
	return error;
}

/* Opens the directory. Programs of all users must find the names in it. */
static int provider_socket_open_dir(char *why)
{
	const char *dir = provider_socket_dir();
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (mkdir(dir, 0711) < 0 && errno != EEXIST)
		return provider_socket_refuse(-errno, "cannot create", why);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return provider_socket_refuse(-errno, "cannot open", why);
	if (st.st_uid != geteuid() || st.st_mode & 022)
		return provider_socket_refuse(-EPERM, "other users can write to", why);
	/* An older kymo made the directory for itself alone. Each file in it has its own mode. */
	if ((st.st_mode & 011) != 011 && fchmod(fd, (st.st_mode & 07777) | 011) < 0)
		return provider_socket_refuse(-errno, "cannot change the mode of", why);
	return TAKE_FD(fd);
}

/* Writes to WHY which process has the lock: the file contains its "NAME PID". */
static void provider_socket_name_owner(const struct provider_socket *s, char *why)
{
	char text[OWNER_BYTES + 1] = "", name[OWNER_BYTES + 1] = "another process";
	unsigned pid = 0;
	ssize_t n = pread(s->lock_fd, text, OWNER_BYTES, 0);

	if (n > 0 && sscanf(text, "%39s %u", name, &pid) == 2 &&
	    strcmp(name, PROVIDER_OWNER_SERVICE) == 0)
		snprintf(why, VALUE_WHY_MAX,
			 "kymod (process %u) has the socket %.80s/" PROVIDER_SOCKET
			 ": record without --direct, or stop its sessions with category app; after "
			 "`kymo providers`, wait ten seconds",
			 pid, provider_socket_dir());
	else
		snprintf(why, VALUE_WHY_MAX,
			 "a recording with --direct (%s, process %u) has the socket "
			 "%.70s/" PROVIDER_SOCKET
			 ": only one process at a time can record the events of programs",
			 name, pid, provider_socket_dir());
}

static int provider_socket_lock(struct provider_socket *s, const char *owner, char *why)
{
	char text[OWNER_BYTES];

	s->lock_fd =
		openat(s->dir_fd, PROVIDER_LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s->lock_fd < 0)
		return provider_socket_refuse(-errno, "cannot create a file in", why);
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return provider_socket_refuse(-errno, "cannot lock a file in", why);
		provider_socket_name_owner(s, why);
		return -EADDRINUSE;
	}
	snprintf(text, sizeof(text), "%s %d\n", owner, getpid());
	if (ftruncate(s->lock_fd, 0) < 0 || write(s->lock_fd, text, strlen(text)) < 0)
		return provider_socket_refuse(-errno, "cannot write a file in", why);
	return 0;
}

/* The address is a path through the descriptor, since the path of the directory can be too long. */
static int provider_socket_listen(struct provider_socket *s)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	s->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return -errno;
	foreign_fds_mark(s->fd, FOREIGN_FD_UNKNOWN);
	if (unlinkat(s->dir_fd, PROVIDER_SOCKET, 0) < 0 && errno != ENOENT)
		return -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" PROVIDER_SOCKET,
		 s->dir_fd);
	if (bind(s->fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    fchmodat(s->dir_fd, PROVIDER_SOCKET, 0666, 0) < 0 || listen(s->fd, BACKLOG) < 0)
		return -errno;
	return 0;
}

/* (ENXIO is no error: if no program waits, the doorbell has no reader, and cannot be opened) */
int provider_socket_ring(struct provider_socket *s)
{
	_cleanup_close_ int fd = -1;

	if (mkfifoat(s->dir_fd, PROVIDER_DOORBELL, 0644) == 0)
		return fchmodat(s->dir_fd, PROVIDER_DOORBELL, 0644, 0) < 0 ? -errno : 0;
	if (errno != EEXIST)
		return -errno;
	fd = openat(s->dir_fd, PROVIDER_DOORBELL, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 && errno != ENXIO ? -errno : 0;
}

int provider_socket_open(struct provider_socket *ret, const char *owner,
			 char why[static VALUE_WHY_MAX])
{
	struct provider_socket s = { -1, -1, -1 };
	int r = s.dir_fd = provider_socket_open_dir(why);

	if (r >= 0)
		r = provider_socket_lock(&s, owner, why);
	if (r == 0) {
		r = provider_socket_listen(&s) ?: provider_socket_ring(&s);
		if (r < 0)
			provider_socket_refuse(r, "cannot make a socket in", why);
		if (r < 0)
			unlinkat(s.dir_fd, PROVIDER_SOCKET, 0);
	}
	if (r < 0) {
		close_passed_fd(s.fd);
		close_fd(s.lock_fd);
		close_fd(s.dir_fd);
		return r;
	}
	*ret = s;
	return 0;
}

void provider_socket_close(struct provider_socket *s)
{
	if (s->fd >= 0)
		unlinkat(s->dir_fd, PROVIDER_SOCKET, 0);
	/* (connections that were not accepted can have descriptors in their queues) */
	s->fd = provider_passed_close(s->fd, geteuid());
	s->lock_fd = close_fd(s->lock_fd);
	s->dir_fd = close_fd(s->dir_fd);
}
