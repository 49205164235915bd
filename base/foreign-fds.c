/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/foreign-fds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Indexed by descriptor; shared with children. Unused pages take no memory. */
static struct foreign_fds {
	_Atomic unsigned limit; /* no descriptor from here on has ever been marked */
	_Atomic uint64_t owners[];
} * foreign;
static size_t foreign_n_owners;
static __thread bool foreign_other_table;
static foreign_fds_closer_fn foreign_closer;

int foreign_fds_begin(void)
{
	struct rlimit files;
	void *p;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return -errno;
	p = mmap(NULL, sizeof(*foreign) + files.rlim_cur * sizeof(*foreign->owners),
		 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	foreign = p;
	foreign_n_owners = files.rlim_cur;
	return 0;
}

void foreign_fds_end(void)
{
	foreign_n_owners = 0;
	foreign = NULL;
}

void foreign_fds_leave_table(void)
{
	foreign_other_table = true;
}

/* Returns true if FD can be marked. In a thread with its own descriptor table, no FD can. */
static bool foreign_has_mark(int fd)
{
	return fd >= 0 && (size_t)fd < foreign_n_owners && !foreign_other_table;
}

void foreign_fds_mark(int fd, uint64_t owner)
{
	unsigned limit;

	if (!foreign_has_mark(fd))
		return;
	limit = atomic_load(&foreign->limit);
	while (limit <= (unsigned)fd &&
	       !atomic_compare_exchange_weak(&foreign->limit, &limit, (unsigned)fd + 1))
		;
	atomic_store_explicit(&foreign->owners[fd], owner, memory_order_relaxed);
}

void foreign_fds_transfer(uint64_t from, uint64_t to)
{
	unsigned limit = foreign_fds_limit();

	for (unsigned fd = 0; fd < limit; fd++) {
		uint64_t owner = from;

		atomic_compare_exchange_strong(&foreign->owners[fd], &owner, to);
	}
}

size_t foreign_fds_max(void)
{
	return foreign_n_owners;
}

unsigned foreign_fds_limit(void)
{
	return foreign ? atomic_load(&foreign->limit) : 0;
}

uint64_t foreign_fds_owner(int fd)
{
	if (!foreign_has_mark(fd))
		return FOREIGN_FD_OWN;
	return atomic_load_explicit(&foreign->owners[fd], memory_order_relaxed);
}

uint64_t foreign_fds_forget(int fd)
{
	/* Read first, so that a page that was never written is not allocated. */
	if (foreign_fds_owner(fd) == FOREIGN_FD_OWN)
		return FOREIGN_FD_OWN;
	return atomic_exchange_explicit(&foreign->owners[fd], FOREIGN_FD_OWN, memory_order_relaxed);
}

void foreign_fds_set_closer(foreign_fds_closer_fn fn)
{
	foreign_closer = fn;
}

int close_passed_fd(int fd)
{
	uint64_t owner = foreign_fds_owner(fd);

	if (owner != FOREIGN_FD_OWN && foreign_closer) {
		foreign_closer(fd, owner);
		return -1;
	}
	foreign_fds_forget(fd);
	return close_fd(fd);
}

int foreign_fds_dup(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (copy < 0)
		return -errno;
	foreign_fds_mark(copy, foreign_fds_owner(fd));
	return copy;
}
