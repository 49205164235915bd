/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/files/reaper-sockets.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/foreign-fds.h"

/* More connections than the queue of a listening socket can contain. */
enum { WAITING_MAX = 4096 };

/* The noted sockets: descriptor + 1; 0 = free place. The reaper shares this memory. */
static _Atomic int *reaper_sockets;

int reaper_sockets_begin(void)
{
	void *memory = mmap(NULL, REAPER_SOCKETS_MAX * sizeof(*reaper_sockets),
			    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	reaper_sockets = memory;
	return 0;
}

/* Replaces the first entry BEFORE by AFTER. */
static void reaper_sockets_replace(int before, int after)
{
	for (size_t i = 0; reaper_sockets && i < REAPER_SOCKETS_MAX; i++)
		if (atomic_load(&reaper_sockets[i]) == before) {
			atomic_store(&reaper_sockets[i], after);
			return;
		}
}

void reaper_sockets_add(int fd)
{
	reaper_sockets_replace(0, fd + 1);
}

void reaper_sockets_remove(int fd)
{
	if (fd >= 0)
		reaper_sockets_replace(fd + 1, 0);
}

/* Ends the connections in the queue of FD, if it listens. */
static void reaper_sockets_end_waiting(int fd)
{
	for (int i = 0; i < WAITING_MAX; i++) {
		int waiting =
			(int)syscall(SYS_accept4, fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (waiting < 0)
			return;
		/* (the connection is shut down, but not closed, since a close could hang) */
		foreign_fds_mark(waiting, FOREIGN_FD_UNKNOWN);
		syscall(SYS_shutdown, waiting, SHUT_RDWR);
	}
}

void reaper_sockets_shut_down(void)
{
	for (size_t i = 0; i < REAPER_SOCKETS_MAX; i++) {
		int fd = atomic_load(&reaper_sockets[i]) - 1;

		if (fd < 0)
			continue;
		/* (a listening socket then gets no more connections, so accept() does not wait) */
		syscall(SYS_shutdown, fd, SHUT_RDWR);
		reaper_sockets_end_waiting(fd);
	}
}
