/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A queue of descriptors from clients that wait to be closed.
 *
 * Each close can hang forever. So the descriptors wait in lines, one line for each owner and place
 * (base/file-kind.h), and each line closes one descriptor at a time. A close that hangs delays only
 * its own line. The number of active lines of one owner is limited, so that one user cannot occupy
 * all closers. Some closers are reserved for root.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

enum {
	CLOSE_AT_ONCE_MAX = 64, /* maximum number of active lines of all owners */
	CLOSE_AT_ONCE_ROOT = 8, /* number of active lines that are reserved for root */
	/* Maximum number of active lines of one owner other than root. */
	CLOSE_AT_ONCE_PER_OWNER = 8,
	/* Maximum number of active lines of descriptors with unknown owners. */
	CLOSE_AT_ONCE_UNKNOWN = 16,
	CLOSE_QUEUED_MAX = 256, /* maximum number of descriptors in a stuck line */
	/* Maximum number of descriptors of one owner other than root ... */
	CLOSE_OWNED_MAX = 1024,
	CLOSE_OWNED_PART = 16, /* ... and at most 1/16 of those that can be open */
	/* Maximum for all owners: 1/4 of all possible descriptors ... */
	CLOSE_ALL_PART = 4,
	CLOSE_ALL_PART_ROOT = 2, /* ... or 1/2 if root adds more */
};

/* A line is stuck if closing one descriptor takes longer than this. */
#define CLOSE_STUCK_NS UINT64_C(1000000000)

struct close_line;
struct close_owner;

/* A queue. All members except the seed must be zero initially. */
struct close_queue {
	/* Random, so that clients cannot choose lines with equal hashes. */
	uint64_t seed;
	struct table lines;       /* (owner, place) -> struct close_line, owned */
	struct table owners;      /* owner -> struct close_owner, owned */
	struct close_owner *next; /* next owner in turn; the owners form a ring */
	size_t n;                 /* number of descriptors that are not closed yet */
	unsigned n_busy, n_busy_root;
};

/* Adds FD to its line. Returns 0 or -ENOMEM. */
int close_queue_add(struct close_queue *q, uint64_t owner, uint64_t place, int fd);

/* Returns true if close_queue_pop() has a line to return. */
bool close_queue_is_ready(const struct close_queue *q);

/*
 * Returns the next waiting line in turn, with its next descriptor in *RET_FD. Returns NULL if no
 * line waits, or if the limits of active lines are reached. The line is active until
 * close_queue_done() returns false for it. NOW_NS is CLOCK_MONOTONIC.
 */
struct close_line *close_queue_pop(struct close_queue *q, uint64_t now_ns, int *ret_fd);

/*
 * Notes that the current descriptor of LINE was closed. Returns true if the line has another
 * descriptor, which is then in *RET_FD. Otherwise, frees LINE and returns false.
 */
bool close_queue_done(struct close_queue *q, struct close_line *line, uint64_t now_ns, int *ret_fd);

/*
 * Returns the number of unclosed descriptors of OWNER at PLACE, if no more should be accepted from
 * there; otherwise 0. Only a stuck line can have too many. A busy disk, too, can make a line stuck
 * for many seconds, but CLOSE_QUEUED_MAX is more than a user can request in a minute
 * (daemon/access/quotas.h).
 */
size_t close_queue_backlog(const struct close_queue *q, uint64_t owner, uint64_t place,
			   uint64_t now_ns);

/*
 * Returns true if more descriptors of OWNER can be accepted. FILES_MAX is the number of descriptors
 * that can be open in this process. If too many descriptors of a user are not closed yet, their
 * closes probably hang, and the user gets no more.
 */
bool close_queue_has_room(const struct close_queue *q, uint64_t owner, size_t files_max);

/* Frees all lines without closing their descriptors. There must be no active line. */
void close_queue_deinit(struct close_queue *q);
