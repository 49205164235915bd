/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/files/direct-sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/foreign-fds.h"

/* Duplicates of the sockets, + 1; 0 = no socket. The reaper shares this memory. */
static _Atomic int *duplicates;

/* The sockets of these duplicates. */
static struct {
	int fd;         /* -1 = it was closed */
	uint64_t owner; /* 0 = unused entry */
} sockets[DIRECT_SOCKETS_MAX];

int direct_sockets_begin(void)
{
	void *memory = mmap(NULL, DIRECT_SOCKETS_MAX * sizeof(*duplicates), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	duplicates = memory;
	return 0;
}

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
	sockets[i].owner = FOREIGN_FD_OF(uid);
	atomic_store(&duplicates[i], kept + 1);
	return kept;
}

/* Returns the index of the socket with the duplicate KEPT, or DIRECT_SOCKETS_MAX. */
static size_t direct_sockets_find(int kept)
{
	size_t i = 0;

	while (i < DIRECT_SOCKETS_MAX && atomic_load(&duplicates[i]) != kept + 1)
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
	/* (children of this process can have the socket, too) */
	shutdown(kept, SHUT_RDWR);
	sockets[i].owner = 0;
	atomic_store(&duplicates[i], 0);
	close_passed_fd(kept);
}

uint64_t direct_sockets_owner(int fd)
{
	for (size_t i = 0; i < DIRECT_SOCKETS_MAX; i++)
		if (sockets[i].owner && sockets[i].fd == fd)
			return sockets[i].owner;
	return FOREIGN_FD_OWN;
}

void direct_sockets_shut_down(void)
{
	for (size_t i = 0; i < DIRECT_SOCKETS_MAX; i++)
		if (atomic_load(&duplicates[i]))
			syscall(SYS_shutdown, atomic_load(&duplicates[i]) - 1, SHUT_RDWR);
}
