/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Descriptors of this process that clients passed, and the user who passed each one.
 *
 * A descriptor from a client can refer to anything: a file system that never answers, a socket with
 * such files in its queue, a pipe whose lock is held. So the treatment of a descriptor depends on
 * its origin and not on its type. A process that never calls foreign_fds_begin() has no such
 * descriptors. Thread-safe.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

/* Values for the owner of a descriptor. 0 = the descriptor is our own. */
#define FOREIGN_FD_OWN     UINT64_C(0)
#define FOREIGN_FD_UNKNOWN UINT64_C(1) /* the caller is not known */
#define FOREIGN_FD_OF(uid) ((uint64_t)(uid_t)(uid) + 2)
/* A client on the bus, identified by a hash of its bus name until its user is known. */
#define FOREIGN_FD_OF_PEER(hash) (UINT64_C(1) << 63 | (hash))

/* Makes room for as many descriptors as RLIMIT_NOFILE allows now. Returns 0 or a negative errno. */
int foreign_fds_begin(void);

/*
 * For a child: from now on, all its descriptors are its own. Call it before the child unmaps shared
 * memory.
 */
void foreign_fds_end(void);

/*
 * For a thread with its own descriptor table: from now on, all descriptors in that table are the
 * thread's own, whatever their numbers mean in other tables.
 */
void foreign_fds_leave_table(void);

/* Notes that OWNER owns FD. */
void foreign_fds_mark(int fd, uint64_t owner);

/* Transfers all descriptors of FROM to TO. */
void foreign_fds_transfer(uint64_t from, uint64_t to);

/* Returns the maximum number of descriptors. */
size_t foreign_fds_max(void);

/*
 * Returns the lowest number such that all descriptors from this number on have always been our own.
 */
unsigned foreign_fds_limit(void);

/* Returns the owner of FD. */
uint64_t foreign_fds_owner(int fd);

/* Forgets and returns the owner of FD, which is about to be closed. */
uint64_t foreign_fds_forget(int fd);

/*
 * Closes a descriptor that OWNER passed. Any thread may call this function, and it never waits. FD
 * counts as OWNER's until it is closed.
 */
typedef void (*foreign_fds_closer_fn)(int fd, uint64_t owner);

/*
 * From now on, FN closes the descriptors that clients passed. Without FN, they are closed directly.
 */
void foreign_fds_set_closer(foreign_fds_closer_fn fn);

/*
 * Closes FD if it is open, without waiting if a client passed it. Always returns -1, so that `fd =
 * close_passed_fd(fd)` works. Descriptors that clients may have passed must be closed only by this
 * function (tests/style/check-closes).
 */
int close_passed_fd(int fd);

static inline void close_passed_fdp(int *fd)
{
	close_passed_fd(*fd);
}

#define _cleanup_close_passed_ _cleanup_(close_passed_fdp)

/*
 * Duplicates FD, with close-on-exec, for the same owner. Returns the duplicate or a negative errno.
 */
int foreign_fds_dup(int fd);
