/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/fakes/stuck-store.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static bool goes;
static unsigned n_waiting;

static int stuck_begin(struct store *s, const struct store_moment *at)
{
	(void)s;
	(void)at;
	return 0;
}

static int stuck_write(struct store *s, enum store_part part, const uint8_t *data, size_t size,
		       store_whole_fn whole, size_t *ret_kept)
{
	(void)s;
	(void)part;
	(void)data;
	(void)whole;
	pthread_mutex_lock(&lock);
	n_waiting++;
	while (!goes)
		pthread_cond_wait(&wake, &lock);
	n_waiting--;
	pthread_mutex_unlock(&lock);
	*ret_kept = size;
	return 0;
}

static void stuck_cancel(struct store *s)
{
	(void)s;
}

static void stuck_free(struct store *s)
{
	free(s);
}

static const struct store_ops ops = {
	.begin = stuck_begin,
	.write = stuck_write,
	.end = stuck_begin,
	.cancel = stuck_cancel,
	.free = stuck_free,
};

struct store *stuck_store_new(uid_t owner)
{
	struct store *s = calloc(1, sizeof(*s));

	if (s)
		*s = (struct store){ &ops, { .uid = owner } };
	return s;
}

unsigned stuck_store_waiting(void)
{
	unsigned n;

	pthread_mutex_lock(&lock);
	n = n_waiting;
	pthread_mutex_unlock(&lock);
	return n;
}

void stuck_store_let_go(bool go)
{
	pthread_mutex_lock(&lock);
	goes = go;
	pthread_cond_broadcast(&wake);
	pthread_mutex_unlock(&lock);
}
