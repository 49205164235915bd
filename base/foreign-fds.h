/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors of this process that callers passed, and the user who passed each.
 *
 * A descriptor that somebody passed can lead to anything: a file system that never answers, a
 * socket with such files in its queue, a pipe whose lock somebody holds. So how it may be treated
 * depends on where it came from and not on its type. A process that never calls foreign_fds_begin()
 * has none. Safe in all threads.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* Owners. 0 = the descriptor is our own. */
#define FOREIGN_FD_OWN     UINT64_C(0)
#define FOREIGN_FD_UNKNOWN UINT64_C(1) /* the caller is not known */
#define FOREIGN_FD_OF(uid) ((uint64_t)(uid_t)(uid) + 2)

/* Makes room for as many as RLIMIT_NOFILE allows now. Returns 0 or a negative errno. */
int foreign_fds_begin(void);

/*
 * For a child with descriptors of its own, before it gives shared memory back: none of its
 * descriptors are others'.
 */
void foreign_fds_end(void);

/* Notes that FD is OWNER's. */
void foreign_fds_mark(int fd, uint64_t owner);

/* No descriptor from this one on was ever others'. */
unsigned foreign_fds_limit(void);

/* Whose FD is. */
uint64_t foreign_fds_owner(int fd);

/* Forgets whose FD was, as it is about to be closed, and returns it. */
uint64_t foreign_fds_forget(int fd);

/* A copy of FD, closed on exec, of the same owner. Returns it or a negative errno. */
int foreign_fds_dup(int fd);
