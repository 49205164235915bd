/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts per user, for limits on resources held by threads that nothing else tracks any more.
 * Thread-safe.
 */
#pragma once

#include <sys/types.h>

struct user_counts;

/*
 * Sessions released by their owner, with threads that have not returned: they hang in the kernel,
 * in a file or a process of that user.
 */
extern struct user_counts abandoned_sessions;

/* Snapshots that are being written. */
extern struct user_counts written_snapshots;

struct user_count {
	unsigned all; /* of all users */
	unsigned user;
};

/*
 * Adds one for UID, or with N = -1 subtracts one. Returns the new count; without memory, UID is not
 * counted.
 */
struct user_count user_counts_add(struct user_counts *c, uid_t uid, int n);

/*
 * Threads that belong together, such as those of a session. If any of them hang, they count once.
 * Each of them holds a reference. All functions accept NULL, and then do nothing.
 */
struct left_behind;

/* Returns NULL without memory. */
struct left_behind *left_behind_new(uid_t uid);
struct left_behind *left_behind_ref(struct left_behind *l);
struct left_behind *left_behind_unref(struct left_behind *l);

/* A released thread hangs; and it has returned. */
void left_behind_hangs(struct left_behind *l);
void left_behind_returns(struct left_behind *l);

/* The current counts. */
struct user_count user_counts_get(struct user_counts *c, uid_t uid);
