/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The descriptors of others that are to be closed, and in which order that is begun.
 *
 * Each may hang for ever. So they stand in lines: one for each owner and place (base/file-kind.h),
 * of which one descriptor is being closed at a time: what hangs holds up its own line and nothing
 * else. An owner has a limited number of lines that are being worked at, so that one user cannot
 * take all who close. Some of these are kept for root.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

enum {
	CLOSE_AT_ONCE_MAX = 64,      /* lines that are worked at, of all owners together */
	CLOSE_AT_ONCE_ROOT = 8,      /* of these only for root */
	CLOSE_AT_ONCE_PER_OWNER = 8, /* of one owner who is not root */
	CLOSE_AT_ONCE_UNKNOWN = 16,  /* of descriptors whose owner is not known */
	CLOSE_QUEUED_MAX = 256,      /* of one line that does not move */
	CLOSE_OWNED_MAX = 1024,      /* of one owner who is not root ... */
	CLOSE_OWNED_PART = 16,       /* ... and never more than this part of all that may be open */
	CLOSE_ALL_PART = 4,          /* the part that all together may have ... */
	CLOSE_ALL_PART_ROOT = 2,     /* ... when root has more */
};

/* A line does not move when one close takes that long. */
#define CLOSE_STUCK_NS UINT64_C(1000000000)

struct close_line;
struct close_owner;

/* All zero but for the seed is the beginning. */
struct close_queue {
	uint64_t seed;            /* random: nobody can look for lines that hash alike */
	struct table lines;       /* (owner, place) -> struct close_line, owned */
	struct table owners;      /* owner -> struct close_owner, owned */
	struct close_owner *next; /* whose turn it is, in a ring */
	size_t n;                 /* descriptors that are not closed yet */
	unsigned n_busy, n_busy_root;
};

/* Adds FD, for a call of close_queue_take(). Returns 0 or -ENOMEM. */
int close_queue_add(struct close_queue *q, uint64_t owner, uint64_t place, int fd);

/* Whether there is a line for close_queue_take(). */
bool close_queue_is_ready(const struct close_queue *q);

/*
 * A line whose turn it is, with its next descriptor in *RET_FD, or NULL if there is none, or no
 * more may be worked at. It is worked at until close_queue_done(). NOW_NS is CLOCK_MONOTONIC.
 */
struct close_line *close_queue_take(struct close_queue *q, uint64_t now_ns, int *ret_fd);

/*
 * One of LINE is closed. Returns true, with the next one in *RET_FD, or false if that was the last
 * one: LINE has gone.
 */
bool close_queue_done(struct close_queue *q, struct close_line *line, uint64_t now_ns, int *ret_fd);

/*
 * How many of OWNER's are not closed at PLACE, if these are too many to take more from there; else
 * 0. A line that moves is never too long. One that does not may be a busy disk, which takes many
 * seconds for one close. It holds up no other line, and CLOSE_QUEUED_MAX is more than a user may
 * ask for in a minute (daemon/quotas.h).
 */
size_t close_queue_backlog(const struct close_queue *q, uint64_t owner, uint64_t place,
			   uint64_t now_ns);

/*
 * Whether more of OWNER's may be taken where at most FILES_MAX may be open: a user who has so many
 * that are not closed, most likely because that takes for ever, gets no more.
 */
bool close_queue_has_room(const struct close_queue *q, uint64_t owner, size_t files_max);

/* Forgets everything; closes nothing. No line is worked at any more. */
void close_queue_deinit(struct close_queue *q);
