/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts per user, for limits on resources of threads that nothing else tracks any more.
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
	unsigned all; /* sum of all users */
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
struct abandoned_threads;

/* Returns NULL without memory. */
struct abandoned_threads *abandoned_threads_new(uid_t uid);
struct abandoned_threads *abandoned_threads_ref(struct abandoned_threads *l);
struct abandoned_threads *abandoned_threads_unref(struct abandoned_threads *l);

/* A released thread hangs; a thread that hung has returned. */
void abandoned_threads_hang(struct abandoned_threads *l);
void abandoned_threads_return(struct abandoned_threads *l);

/* The current counts. */
struct user_count user_counts_get(struct user_counts *c, uid_t uid);
