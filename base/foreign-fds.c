/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/foreign-fds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* By descriptor. Pages that are never written take no memory. */
static _Atomic uint64_t *foreign_owners;
static size_t foreign_n_owners;

int foreign_fds_begin(void)
{
	struct rlimit files;
	void *p;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return -errno;
	p = mmap(NULL, files.rlim_cur * sizeof(*foreign_owners), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	foreign_owners = p;
	foreign_n_owners = files.rlim_cur;
	return 0;
}

void foreign_fds_mark(int fd, uint64_t owner)
{
	if (fd >= 0 && (size_t)fd < foreign_n_owners)
		atomic_store_explicit(&foreign_owners[fd], owner, memory_order_relaxed);
}

uint64_t foreign_fds_owner(int fd)
{
	if (fd < 0 || (size_t)fd >= foreign_n_owners)
		return FOREIGN_FD_OWN;
	return atomic_load_explicit(&foreign_owners[fd], memory_order_relaxed);
}

uint64_t foreign_fds_forget(int fd)
{
	/* (looked at first, so that a page which nobody has written stays so) */
	if (foreign_fds_owner(fd) == FOREIGN_FD_OWN)
		return FOREIGN_FD_OWN;
	return atomic_exchange_explicit(&foreign_owners[fd], FOREIGN_FD_OWN, memory_order_relaxed);
}

int foreign_fds_dup(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (copy < 0)
		return -errno;
	foreign_fds_mark(copy, foreign_fds_owner(fd));
	return copy;
}
