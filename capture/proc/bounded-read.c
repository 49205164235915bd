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
#include "capture/proc/hang-limits.h"
#include "capture/sandbox/thread.h"

struct bounded_reading {
	struct hang_request request;
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

/* Guards the limits, and the members above. */
static pthread_mutex_t bounded_read_lock = PTHREAD_MUTEX_INITIALIZER;

/* The readings of all sessions, with those that hang. */
static struct hang_limits bounded_read_limits = { .n_max = 256, .timeout_ns = BOUNDED_READ_NS_MAX };

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
 * Adds B to the readings. Sets *RET_TIMEOUT_NS to its time. Returns 0, -EBUSY or -EUSERS
 * (hang_limits_add()).
 */
static int bounded_read_add(struct bounded_reading *b, uint64_t *ret_timeout_ns)
{
	int r;

	b->request = (struct hang_request){
		.owner = hang_limits_owner_of(b->root, b->pid),
		.place = b->pid,
		.hangs_ns = UINT64_MAX,
	};
	pthread_mutex_lock(&bounded_read_lock);
	r = hang_limits_add(&bounded_read_limits, &b->request, clock_read_ns(CLOCK_MONOTONIC),
			    ret_timeout_ns);
	pthread_mutex_unlock(&bounded_read_lock);
	return r;
}

/* Removes B from the readings, and frees it. */
static void bounded_read_remove(struct bounded_reading *b)
{
	pthread_mutex_lock(&bounded_read_lock);
	hang_limits_remove(&bounded_read_limits, &b->request);
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
	if (!is_done)
		b->request.hangs_ns = 0;
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
