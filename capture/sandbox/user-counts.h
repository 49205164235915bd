/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts for each user. They limit the resources of threads that nothing else tracks any more. All
 * threads may use them.
 */
#pragma once

#include <sys/types.h>

struct user_counts;

/*
 * Sessions that their owner has released, but whose threads have not all returned: these threads
 * hang in the kernel, in a file or a process of that user.
 */
extern struct user_counts abandoned_sessions;

/* Snapshots that are being written. */
extern struct user_counts written_snapshots;

struct user_count {
	unsigned all; /* sum of all users */
	unsigned user;
};

/*
 * Adds N, which is 1 or -1, to the count of UID. Returns the new count; if there is no memory, UID
 * is not counted.
 */
struct user_count user_counts_add(struct user_counts *c, uid_t uid, int n);

/*
 * Threads that belong together, such as the threads of a session. If one or more of them hang, they
 * count once. Each thread holds a reference. All functions accept NULL, and then do nothing.
 */
struct abandoned_threads;

/* Returns NULL if there is no memory. */
struct abandoned_threads *abandoned_threads_new(uid_t uid);
struct abandoned_threads *abandoned_threads_ref(struct abandoned_threads *l);
struct abandoned_threads *abandoned_threads_unref(struct abandoned_threads *l);

/*
 * The first function says that a released thread hangs; the second one, that such a thread has
 * returned.
 */
void abandoned_threads_hang(struct abandoned_threads *l);
void abandoned_threads_return(struct abandoned_threads *l);

/* Returns the current counts. */
struct user_count user_counts_get(struct user_counts *c, uid_t uid);
