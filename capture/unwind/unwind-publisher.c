/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-publisher.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "capture/sandbox/thread.h"

/*
 * The maximum number of workers. The kernel makes each change of the map wait, so the workers wait
 * in parallel: at the start of a session, the tables of a hundred files arrive at once.
 */
enum { WORKERS_MAX = 64 };

struct unwind_change {
	uint32_t number;
	int blocks_fd; /* owned; -1 = remove the table */
};

struct unwind_publisher {
	int tables_fd;
	pthread_mutex_t lock; /* guards the following members */
	pthread_cond_t done;  /* no worker is left */
	struct unwind_change *queue;
	size_t n, room;
	unsigned n_workers;
};

struct unwind_publisher *unwind_publisher_new(int tables_fd)
{
	struct unwind_publisher *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->tables_fd = tables_fd;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->done, NULL);
	return p;
}

struct unwind_publisher *unwind_publisher_free(struct unwind_publisher *p)
{
	if (!p)
		return NULL;
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->n; i++)
		close_fd(p->queue[i].blocks_fd);
	p->n = 0;
	pthread_mutex_unlock(&p->lock);
	unwind_publisher_drain(p);
	free(p->queue);
	pthread_cond_destroy(&p->done);
	pthread_mutex_destroy(&p->lock);
	return free_ptr(p);
}

static void unwind_publisher_change(const struct unwind_publisher *p, struct unwind_change *change)
{
	if (change->blocks_fd >= 0)
		bpf_map_update_elem(p->tables_fd, &change->number, &change->blocks_fd, BPF_ANY);
	else
		bpf_map_delete_elem(p->tables_fd, &change->number);
	close_fd(change->blocks_fd);
}

static void *unwind_publisher_work(void *userdata)
{
	struct unwind_publisher *p = userdata;

	pthread_mutex_lock(&p->lock);
	while (p->n > 0) {
		struct unwind_change change = p->queue[0];

		memmove(p->queue, p->queue + 1, --p->n * sizeof(change));
		pthread_mutex_unlock(&p->lock);
		unwind_publisher_change(p, &change);
		pthread_mutex_lock(&p->lock);
	}
	if (--p->n_workers == 0)
		pthread_cond_broadcast(&p->done);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int unwind_publisher_put(struct unwind_publisher *p, uint32_t number, int blocks_fd)
{
	bool alone;
	int r;

	pthread_mutex_lock(&p->lock);
	r = GROW(p->queue, p->room, p->n + 1);
	if (r == 0)
		p->queue[p->n++] = (struct unwind_change){ number, blocks_fd };
	if (r == 0 && p->n_workers < WORKERS_MAX && thread_start(unwind_publisher_work, p) == 0)
		p->n_workers++;
	alone = p->n_workers == 0;
	pthread_mutex_unlock(&p->lock);
	if (r < 0)
		close_fd(blocks_fd);
	else if (alone)
		unwind_publisher_drain(p);
	return r;
}

void unwind_publisher_drain(struct unwind_publisher *p)
{
	pthread_mutex_lock(&p->lock);
	if (p->n > 0 && p->n_workers == 0) {
		/* No thread could be started, so this thread does the work. */
		p->n_workers++;
		pthread_mutex_unlock(&p->lock);
		unwind_publisher_work(p);
		pthread_mutex_lock(&p->lock);
	}
	while (p->n_workers > 0)
		pthread_cond_wait(&p->done, &p->lock);
	pthread_mutex_unlock(&p->lock);
}
