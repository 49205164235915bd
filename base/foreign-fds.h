/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Descriptors of this process that callers passed, and the user who passed each.
 *
 * A descriptor that somebody passed can lead to anything: a file system that never answers, a
 * socket with such files in its queue, a pipe whose lock somebody holds. So how it may be treated
 * depends on where it came from and not on its type. A process that never calls foreign_fds_begin()
 * has none. Safe in all threads.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

/* Owners. 0 = the descriptor is our own. */
#define FOREIGN_FD_OWN     UINT64_C(0)
#define FOREIGN_FD_UNKNOWN UINT64_C(1) /* the caller is not known */
#define FOREIGN_FD_OF(uid) ((uint64_t)(uid_t)(uid) + 2)
/* Somebody on the bus, by a hash of his name, until it is known who that is. */
#define FOREIGN_FD_OF_PEER(hash) (UINT64_C(1) << 63 | (hash))

/* Makes room for as many as RLIMIT_NOFILE allows now. Returns 0 or a negative errno. */
int foreign_fds_begin(void);

/*
 * For a child with descriptors of its own, before it gives shared memory back: none of its
 * descriptors are others'.
 */
void foreign_fds_end(void);

/*
 * For a thread with a table of descriptors of its own: from here on what it has is its own,
 * whatever the numbers mean to others.
 */
void foreign_fds_leave_table(void);

/* Notes that FD is OWNER's. */
void foreign_fds_mark(int fd, uint64_t owner);

/* What was FROM's is TO's. */
void foreign_fds_give(uint64_t from, uint64_t to);

/* How many descriptors there may be. */
size_t foreign_fds_max(void);

/* No descriptor from this one on was ever others'. */
unsigned foreign_fds_limit(void);

/* Whose FD is. */
uint64_t foreign_fds_owner(int fd);

/* Forgets whose FD was, as it is about to be closed, and returns it. */
uint64_t foreign_fds_forget(int fd);

/*
 * What closes a descriptor that OWNER has passed: any thread may call it, and it never waits. FD is
 * marked until it is closed.
 */
typedef void (*foreign_fds_closer_fn)(int fd, uint64_t owner);

/* Has FN close such descriptors from now on; without one, they are closed like our own. */
void foreign_fds_set_closer(foreign_fds_closer_fn fn);

/*
 * Closes FD if it is open, without waiting if somebody else passed it; always returns -1, to be
 * assigned back. Descriptors that callers may have passed are closed by this and nothing else
 * (tests/style/check-closes).
 */
int close_passed_fd(int fd);

static inline void close_passed_fdp(int *fd)
{
	close_passed_fd(*fd);
}

#define _cleanup_close_passed_ _cleanup_(close_passed_fdp)

/* A copy of FD, closed on exec, of the same owner. Returns it or a negative errno. */
int foreign_fds_dup(int fd);
