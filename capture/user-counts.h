/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many of something each user has, for limits on what threads hold that nobody else may know of
 * any more. Safe in all threads.
 */
#pragma once

#include <sys/types.h>

struct user_counts;

/*
 * Threads that their owner has let go of, and that have not come back: they hang in the kernel, in
 * a file or a process of that user.
 */
extern struct user_counts abandoned_threads;

/* Snapshots that are being written. */
extern struct user_counts written_snapshots;

struct user_count {
	unsigned all; /* of all users */
	unsigned user;
};

/*
 * One more of UID's, or with N = -1 one less. Returns how many there are then; without memory for
 * it, UID's are not counted.
 */
struct user_count user_counts_add(struct user_counts *c, uid_t uid, int n);

/* How many there are. */
struct user_count user_counts_get(struct user_counts *c, uid_t uid);
