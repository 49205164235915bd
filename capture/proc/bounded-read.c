/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nothing ends such a wait: the kernel ends a wait for the lock only when the waiting process is
 * killed, and a wait for a page not even then. An abandoned thread ends by itself when the lock is
 * free, the page is there, or the other process has ended.
 */
#include "capture/proc/bounded-read.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/outbuf.h"
#include "capture/sandbox/thread.h"

enum {
	READINGS_MAX = 256, /* of all sessions, with those that hang */
	HALVINGS_MAX = 6,
};

struct bounded_reading {
	struct bounded_reading *next;
	char root[64];
	uint32_t pid;
	bounded_read_fn fn;
	pthread_cond_t changed;
	/* The thread's results; the first one belongs to the thread until `is_done`. */
	struct outbuf data;
	int result;
	uint64_t cpu_ns;
	bool is_done, is_abandoned; /* the thread frees an abandoned one */
};

/* Guards the list of readings, and the members above. */
static pthread_mutex_t bounded_read_lock = PTHREAD_MUTEX_INITIALIZER;
static struct bounded_reading *bounded_read_all;

static struct bounded_reading *bounded_read_new(const char *root, uint32_t pid, bounded_read_fn fn,
						size_t max)
{
	struct bounded_reading *b = calloc(1, sizeof(*b));
	pthread_condattr_t attributes;

	if (!b)
		return NULL;
	snprintf(b->root, sizeof(b->root), "%s", root);
	b->pid = pid;
	b->fn = fn;
	b->data.limit = max;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&b->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return b;
}

static void bounded_read_free(struct bounded_reading *b)
{
	outbuf_deinit(&b->data);
	pthread_cond_destroy(&b->changed);
	free(b);
}

/*
 * Adds B to the list of readings. *RET_TIMEOUT_NS is its time: the more readings hang, the less, so
 * that many such processes cannot delay a session much. Returns 0 or -EBUSY: another reading of
 * this process hangs, or there are too many.
 */
static int bounded_read_add(struct bounded_reading *b, uint64_t *ret_timeout_ns)
{
	unsigned n = 0, n_hanging = 0;
	bool hangs = false;

	pthread_mutex_lock(&bounded_read_lock);
	for (const struct bounded_reading *o = bounded_read_all; o; o = o->next) {
		n++;
		n_hanging += o->is_abandoned;
		hangs |= o->is_abandoned && o->pid == b->pid;
	}
	hangs |= n >= READINGS_MAX;
	if (!hangs) {
		b->next = bounded_read_all;
		bounded_read_all = b;
	}
	pthread_mutex_unlock(&bounded_read_lock);
	if (n_hanging > HALVINGS_MAX)
		n_hanging = HALVINGS_MAX;
	*ret_timeout_ns = BOUNDED_READ_NS_MAX >> n_hanging;
	return hangs ? -EBUSY : 0;
}

/* Removes B from the list of readings, and frees it. */
static void bounded_read_remove(struct bounded_reading *b)
{
	struct bounded_reading **at = &bounded_read_all;

	pthread_mutex_lock(&bounded_read_lock);
	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	pthread_mutex_unlock(&bounded_read_lock);
	bounded_read_free(b);
}

static void *bounded_read_run(void *userdata)
{
	struct bounded_reading *b = userdata;
	int r = b->fn(b->root, b->pid, &b->data);
	bool is_abandoned;

	pthread_mutex_lock(&bounded_read_lock);
	b->result = r;
	b->cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	b->is_done = true;
	is_abandoned = b->is_abandoned;
	pthread_cond_signal(&b->changed);
	pthread_mutex_unlock(&bounded_read_lock);
	if (is_abandoned)
		bounded_read_remove(b);
	return NULL;
}

/* Returns true if the thread of B is done. Otherwise, B belongs to the thread from now on. */
static bool bounded_read_wait(struct bounded_reading *b, uint64_t timeout_ns)
{
	uint64_t end_ns = clock_read_ns(CLOCK_MONOTONIC) + timeout_ns;
	const struct timespec end = {
		.tv_sec = (time_t)(end_ns / 1000000000),
		.tv_nsec = (long)(end_ns % 1000000000),
	};
	bool is_done;
	int r = 0;

	pthread_mutex_lock(&bounded_read_lock);
	while (!b->is_done && r == 0)
		r = pthread_cond_timedwait(&b->changed, &bounded_read_lock, &end);
	is_done = b->is_done;
	b->is_abandoned = !is_done;
	pthread_mutex_unlock(&bounded_read_lock);
	return is_done;
}

int bounded_read(const char *root, uint32_t pid, bounded_read_fn fn, size_t max, struct outbuf *ret,
		 uint64_t *cpu_ns_sum)
{
	struct bounded_reading *b = bounded_read_new(root, pid, fn, max);
	uint64_t timeout_ns;
	int r;

	if (!b)
		return -ENOMEM;
	r = bounded_read_add(b, &timeout_ns);
	if (r < 0) {
		bounded_read_free(b);
		return r;
	}
	r = thread_start(bounded_read_run, b);
	if (r == 0 && !bounded_read_wait(b, timeout_ns))
		return -ETIME;
	if (r == 0) {
		r = b->result;
		*ret = b->data;
		b->data = (struct outbuf){ 0 };
	}
	if (cpu_ns_sum)
		__atomic_fetch_add(cpu_ns_sum, b->cpu_ns, __ATOMIC_RELAXED);
	bounded_read_remove(b);
	return r;
}
