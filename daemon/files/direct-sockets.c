/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/files/direct-sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/foreign-fds.h"
#include "daemon/files/reaper-sockets.h"

static struct {
	int fd;         /* -1 = it was closed */
	int kept;       /* its duplicate */
	uint64_t owner; /* 0 = unused entry */
} sockets[DIRECT_SOCKETS_MAX];

int direct_sockets_add(int fd, uid_t uid)
{
	size_t i = 0;
	int kept;

	while (i < DIRECT_SOCKETS_MAX && sockets[i].owner)
		i++;
	if (i == DIRECT_SOCKETS_MAX)
		return -EDQUOT;
	kept = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (kept < 0)
		return -errno;
	foreign_fds_mark(kept, FOREIGN_FD_OF(uid));
	sockets[i].fd = fd;
	sockets[i].kept = kept;
	sockets[i].owner = FOREIGN_FD_OF(uid);
	reaper_sockets_add(kept);
	return kept;
}

/* Returns the index of the socket with the duplicate KEPT, or DIRECT_SOCKETS_MAX. */
static size_t direct_sockets_find(int kept)
{
	size_t i = 0;

	while (i < DIRECT_SOCKETS_MAX && !(sockets[i].owner && sockets[i].kept == kept))
		i++;
	return i;
}

void direct_sockets_end(int kept)
{
	size_t i = direct_sockets_find(kept);

	if (i < DIRECT_SOCKETS_MAX)
		sockets[i].fd = -1;
}

void direct_sockets_remove(int kept)
{
	size_t i = direct_sockets_find(kept);

	if (i == DIRECT_SOCKETS_MAX)
		return;
	/*
	 * (a close alone would not end the connection, since children of this process can have the
	 * socket)
	 */
	shutdown(kept, SHUT_RDWR);
	sockets[i].owner = 0;
	reaper_sockets_remove(kept);
	close_passed_fd(kept);
}

uint64_t direct_sockets_owner(int fd)
{
	for (size_t i = 0; i < DIRECT_SOCKETS_MAX; i++)
		if (sockets[i].owner && sockets[i].fd == fd)
			return sockets[i].owner;
	return FOREIGN_FD_OWN;
}
