/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker's thread. It waits for orders and processes them in turn. Timed work is done between
 * orders, and between the steps of long orders.
 */
#include "capture/session/worker-state.h"

#include <poll.h>

#include "base/clock.h"
#include "capture/probes/allocator-cache.h"
#include "capture/proc/reader-process.h"
#include "capture/sandbox/thread.h"

/* The interval of checks for CPUs that go online or offline, and for readers that have ended. */
#define CPUS_NS UINT64_C(500000000)

uint64_t worker_helper_cpu_ns(struct worker *w)
{
	return __atomic_load_n(&w->helper_cpu_ns, __ATOMIC_RELAXED);
}

uint64_t worker_cpu_now_ns(struct worker *w)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID) + worker_helper_cpu_ns(w);
}

/* Notifies the owner of results. The lock is held. */
void worker_notify_owner(struct worker *w)
{
	w->results.cpu_ns = worker_cpu_now_ns(w);
	thread_signal(w->event_fd);
}

/* Returns true if work should be cut short, because an order to end waits for this thread. */
bool worker_called_off(void *userdata)
{
	struct worker *w = userdata;
	bool off;

	pthread_mutex_lock(&w->lock);
	off = w->want_detach || w->want_unload || w->abandoned;
	pthread_mutex_unlock(&w->lock);
	return off;
}

static int worker_keep_sample(const struct rec_counters *rec, void *userdata)
{
	return outbuf_append(userdata, rec, sizeof(*rec));
}

/* Samples the counters if they are due. A late sample does not delay later ones. */
static void worker_sample_if_due(struct worker *w)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC),
		 interval_ns = w->options.counter_interval_ns;
	struct outbuf samples = { 0 };

	if (!w->counters || w->paused || now_ns < w->next_sample_ns)
		return;
	counters_sample(w->counters, clock_boot_ns(), worker_keep_sample, &samples);
	pthread_mutex_lock(&w->lock);
	outbuf_append(&w->results.samples, samples.data, samples.size);
	worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
	outbuf_deinit(&samples);
	w->next_sample_ns += interval_ns * ((now_ns - w->next_sample_ns) / interval_ns + 1);
}

void worker_start_checks(struct worker *w)
{
	w->next_cpus_ns = clock_read_ns(CLOCK_MONOTONIC) + CPUS_NS;
	w->next_own_list_ns = w->options.own ? w->next_cpus_ns : 0;
}

static void worker_check_if_due(struct worker *w)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (!w->next_cpus_ns || now_ns < w->next_cpus_ns)
		return;
	collector_check_cpus(w->collector);
	reader_process_forget_ended();
	w->next_cpus_ns = now_ns + CPUS_NS;
}

/* Does due and urgent work, between the steps of long orders. */
void worker_do_due_work(struct worker *w)
{
	worker_sample_if_due(w);
	worker_list_own_if_due(w);
	worker_watch_if_due(w);
}

/* Waits for an order or the next due time. The lock is held at the call and at the return. */
static void worker_wait_for_order(struct worker *w)
{
	uint64_t sample_ns = w->counters && !w->paused ? w->next_sample_ns : UINT64_MAX;
	uint64_t cpus_ns = w->next_cpus_ns ? w->next_cpus_ns : UINT64_MAX;
	uint64_t tick_ns = w->watching ? heap_targets_next_ns(w->watching) : UINT64_MAX;
	uint64_t next_ns = sample_ns < cpus_ns ? sample_ns : cpus_ns, now_ns;
	struct pollfd fds[] = {
		{ .fd = w->order_fd, .events = POLLIN },
		{ .fd = w->watching ? heap_trace_fd(heap_targets_memory(w->watching)) : -1,
		  .events = POLLIN },
	};
	struct timespec timeout = { 0 };

	if (tick_ns < next_ns)
		next_ns = tick_ns;
	if (w->next_own_list_ns && w->next_own_list_ns < next_ns)
		next_ns = w->next_own_list_ns;
	pthread_mutex_unlock(&w->lock);
	now_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (next_ns > now_ns) {
		timeout.tv_sec = (time_t)((next_ns - now_ns) / 1000000000);
		timeout.tv_nsec = (long)((next_ns - now_ns) % 1000000000);
	}
	ppoll(fds, ARRAY_SIZE(fds), next_ns == UINT64_MAX ? NULL : &timeout, NULL);
	if (fds[0].revents)
		thread_quiet(w->order_fd);
	worker_do_due_work(w);
	worker_check_if_due(w);
	pthread_mutex_lock(&w->lock);
}

/* While files wait for an examination, the thread does not wait, so due work is done here, too. */
static void worker_examine_next(struct worker *w)
{
	worker_do_due_work(w);
	worker_check_if_due(w);
	worker_examine_file(w);
}

/* Processes the next order, or waits. Returns false if no orders will follow. The lock is held at
 * the call and at the return. */
static bool worker_do_next(struct worker *w)
{
	void (*order)(struct worker *) = NULL;
	uint32_t tid = 0;

	if (w->abandoned)
		return false;
	if (w->want_start) {
		w->want_start = false;
		order = worker_begin;
	} else if (w->want_detach) {
		w->want_detach = false;
		order = worker_detach;
	} else if (w->want_unload) {
		w->want_unload = false;
		order = worker_unload;
	} else if (w->want_shed != w->results.shed_bits) {
		order = worker_adjust;
	} else if (w->n_lookups > 0) {
		tid = w->lookups[--w->n_lookups];
	} else if (w->n_pending_checks > 0 || w->check_all_ns) {
		order = worker_check_files;
	} else if (w->n_searches > 0) {
		order = worker_search;
	} else if (w->want_snapshot && w->watching) {
		w->want_snapshot = false;
		w->n_snapshots++;
		order = worker_take_snapshot;
	} else if (w->late_files.size > 0) {
		order = worker_examine_next;
	} else {
		worker_wait_for_order(w);
		return true;
	}
	w->busy = true;
	pthread_mutex_unlock(&w->lock);
	if (order)
		order(w);
	else
		worker_identify(w, tid);
	pthread_mutex_lock(&w->lock);
	w->busy = false;
	return true;
}

void *worker_run(void *userdata)
{
	struct worker *w = userdata;

	pthread_mutex_lock(&w->lock);
	w->has_clock = pthread_getcpuclockid(pthread_self(), &w->clock) == 0;
	while (worker_do_next(w))
		;
	w->has_clock = false;
	pthread_mutex_unlock(&w->lock);
	w->counters = counters_free(w->counters);
	w->watching = heap_targets_free(w->watching);
	w->late_cache = allocator_cache_free(w->late_cache);
	w->collector = collector_free(w->collector);
	reader_process_end_idle();
	worker_release(w);
	return NULL;
}
