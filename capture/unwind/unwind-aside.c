/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-aside.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/sandbox/thread.h"
#include "capture/unwind/unwind-cache.h"

enum unwind_aside_state { ASIDE_IDLE, ASIDE_AT_WORK, ASIDE_DONE };

struct unwind_aside {
	pthread_mutex_t lock; /* guards all members */
	unsigned n_holders;   /* counts the owner and the thread */
	int done_fd;          /* owned */
	enum unwind_aside_state state;
	struct unwind_aside_file file;
};

static void unwind_aside_release(struct unwind_aside *a)
{
	bool last;

	pthread_mutex_lock(&a->lock);
	last = --a->n_holders == 0;
	pthread_mutex_unlock(&a->lock);
	if (!last)
		return;
	unwind_table_deinit(&a->file.table);
	close_fd(a->done_fd);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

/* Runs the thread. While the thread works, only the thread changes A's file. */
static void *unwind_aside_work(void *userdata)
{
	_cleanup_(unwind_cache_freep) struct unwind_cache *cache = NULL;
	uint64_t begun_ns = clock_read_ns(CLOCK_MONOTONIC);
	struct unwind_aside *a = userdata;
	struct unwind_aside_file *file = &a->file;

	(void)unwind_cache_open(UNWIND_CACHE_BYTES_MAX, &cache);
	file->result = unwind_cache_make(cache, file->file.fd, &file->table);
	close_fd(file->file.fd);
	file->file.fd = -1;
	file->ns = clock_read_ns(CLOCK_MONOTONIC) - begun_ns;
	pthread_mutex_lock(&a->lock);
	a->state = ASIDE_DONE;
	pthread_mutex_unlock(&a->lock);
	thread_signal(a->done_fd);
	unwind_aside_release(a);
	return NULL;
}

int unwind_aside_new(int done_fd, struct unwind_aside **ret)
{
	struct unwind_aside *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->done_fd = fcntl(done_fd, F_DUPFD_CLOEXEC, 3);
	if (a->done_fd < 0) {
		int r = -errno;

		free(a);
		return r;
	}
	a->n_holders = 1;
	pthread_mutex_init(&a->lock, NULL);
	*ret = a;
	return 0;
}

struct unwind_aside *unwind_aside_free(struct unwind_aside *a)
{
	if (a)
		unwind_aside_release(a);
	return NULL;
}

bool unwind_aside_is_busy(struct unwind_aside *a)
{
	bool busy;

	pthread_mutex_lock(&a->lock);
	busy = a->state != ASIDE_IDLE;
	pthread_mutex_unlock(&a->lock);
	return busy;
}

int unwind_aside_begin(struct unwind_aside *a, const struct unwind_waiting *file)
{
	int r;

	a->file = (struct unwind_aside_file){ .file = *file };
	pthread_mutex_lock(&a->lock);
	a->state = ASIDE_AT_WORK;
	a->n_holders++;
	pthread_mutex_unlock(&a->lock);
	r = thread_start(unwind_aside_work, a);
	if (r == 0)
		return 0;
	pthread_mutex_lock(&a->lock);
	a->state = ASIDE_IDLE;
	a->n_holders--;
	pthread_mutex_unlock(&a->lock);
	return r;
}

bool unwind_aside_next(struct unwind_aside *a, struct unwind_aside_file *ret)
{
	bool done;

	pthread_mutex_lock(&a->lock);
	done = a->state == ASIDE_DONE;
	if (done) {
		*ret = a->file;
		a->file.table = (struct unwind_table){ 0 };
		a->state = ASIDE_IDLE;
	}
	pthread_mutex_unlock(&a->lock);
	return done;
}
