/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many of something each user has, for limits on what threads hold that nobody else may know of
 * any more. Safe in all threads.
 */
#pragma once

#include <sys/types.h>

struct user_counts;

/*
 * Sessions that their owner has let go of, of which threads have not come back: they hang in the
 * kernel, in a file or a process of that user.
 */
extern struct user_counts abandoned_sessions;

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

/*
 * What threads that belong together leave behind, as those of a session do: it counts once, however
 * many of them hang. Held by each of them; all functions take NULL, and do nothing then.
 */
struct left_behind;

/* NULL without memory. */
struct left_behind *left_behind_new(uid_t uid);
struct left_behind *left_behind_ref(struct left_behind *l);
struct left_behind *left_behind_unref(struct left_behind *l);

/* A thread was let go of, and hangs; it has come back. */
void left_behind_hangs(struct left_behind *l);
void left_behind_returns(struct left_behind *l);

/* How many there are. */
struct user_count user_counts_get(struct user_counts *c, uid_t uid);
