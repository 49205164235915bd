/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/sandbox/user-counts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/table.h"

struct user_counts {
	pthread_mutex_t lock;
	struct table users; /* uid + 1 -> the count itself (not a pointer) */
	unsigned all;
};

struct user_counts abandoned_sessions = { .lock = PTHREAD_MUTEX_INITIALIZER };
struct user_counts written_snapshots = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Reads the counts. The caller holds the lock. */
static struct user_count user_counts_read(struct user_counts *c, uid_t uid)
{
	uintptr_t user = (uintptr_t)table_get(&c->users, (uint64_t)uid + 1);

	return (struct user_count){ c->all, (unsigned)user };
}

struct user_count user_counts_add(struct user_counts *c, uid_t uid, int n)
{
	struct user_count count;

	pthread_mutex_lock(&c->lock);
	count = user_counts_read(c, uid);
	/*
	 * If there was no memory for a user, the user was not counted. Then the later subtraction
	 * finds no count, and must do nothing.
	 */
	if (n > 0 || count.user > 0)
		count.user += (unsigned)n;
	count.all = c->all += (unsigned)n;
	if (count.user == 0)
		table_remove(&c->users, (uint64_t)uid + 1);
	else
		table_set(&c->users, (uint64_t)uid + 1, (void *)(uintptr_t)count.user);
	pthread_mutex_unlock(&c->lock);
	return count;
}

struct user_count user_counts_get(struct user_counts *c, uid_t uid)
{
	struct user_count count;

	pthread_mutex_lock(&c->lock);
	count = user_counts_read(c, uid);
	pthread_mutex_unlock(&c->lock);
	return count;
}

struct abandoned_threads {
	uid_t uid;
	atomic_uint n_refs, n_hanging;
};

struct abandoned_threads *abandoned_threads_new(uid_t uid)
{
	struct abandoned_threads *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->uid = uid;
	l->n_refs = 1;
	return l;
}

struct abandoned_threads *abandoned_threads_ref(struct abandoned_threads *l)
{
	if (l)
		atomic_fetch_add(&l->n_refs, 1);
	return l;
}

struct abandoned_threads *abandoned_threads_unref(struct abandoned_threads *l)
{
	if (l && atomic_fetch_sub(&l->n_refs, 1) == 1)
		free(l);
	return NULL;
}

void abandoned_threads_hang(struct abandoned_threads *l)
{
	if (l && atomic_fetch_add(&l->n_hanging, 1) == 0)
		user_counts_add(&abandoned_sessions, l->uid, 1);
}

void abandoned_threads_return(struct abandoned_threads *l)
{
	if (l && atomic_fetch_sub(&l->n_hanging, 1) == 1)
		user_counts_add(&abandoned_sessions, l->uid, -1);
}
