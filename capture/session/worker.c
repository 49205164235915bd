/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/session/worker.h"

#include <errno.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "capture/sandbox/thread.h"
#include "capture/session/worker-state.h"

void worker_results_deinit(struct worker_results *results)
{
	free(results->error_text);
	outbuf_deinit(&results->tasks);
	outbuf_deinit(&results->looked_up);
	outbuf_deinit(&results->commands);
	outbuf_deinit(&results->cgroups);
	outbuf_deinit(&results->samples);
	outbuf_deinit(&results->mappings);
	outbuf_deinit(&results->waiting);
	outbuf_deinit(&results->examined);
}

void worker_release(struct worker *w)
{
	bool last;

	pthread_mutex_lock(&w->lock);
	last = --w->n_holders == 0;
	pthread_mutex_unlock(&w->lock);
	if (!last)
		return;
	if (w->counted)
		abandoned_threads_return(w->abandoned_threads);
	abandoned_threads_unref(w->abandoned_threads);
	worker_results_deinit(&w->results);
	outbuf_deinit(&w->memory);
	outbuf_deinit(&w->late_files);
	session_options_deinit(&w->options);
	close_fd(w->event_fd);
	close_fd(w->order_fd);
	pthread_cond_destroy(&w->not_full);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int worker_new(const struct session_options *options, struct abandoned_threads *abandoned_threads,
	       struct worker **ret)
{
	struct worker *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->n_holders = 2;
	w->abandoned_threads = abandoned_threads_ref(abandoned_threads);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->not_full, NULL);
	w->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->order_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = session_options_copy(&w->options, options);
	if (r == 0)
		r = w->event_fd < 0 || w->order_fd < 0 ? -errno : thread_start(worker_run, w);
	if (r < 0) {
		w->n_holders = 1;
		worker_release(w);
		return r;
	}
	*ret = w;
	return 0;
}

static void worker_order(struct worker *w, bool *what)
{
	pthread_mutex_lock(&w->lock);
	*what = true;
	pthread_cond_signal(&w->not_full);
	thread_signal(w->order_fd);
	pthread_mutex_unlock(&w->lock);
}

void worker_order_start(struct worker *w)
{
	worker_order(w, &w->want_start);
}

void worker_order_detach(struct worker *w)
{
	worker_order(w, &w->want_detach);
}

void worker_order_unload(struct worker *w)
{
	worker_order(w, &w->want_unload);
}

uint64_t worker_order_snapshot(struct worker *w)
{
	uint64_t n;

	pthread_mutex_lock(&w->lock);
	w->want_snapshot = true;
	n = w->n_snapshots + 1;
	thread_signal(w->order_fd);
	pthread_mutex_unlock(&w->lock);
	return n;
}

uint64_t worker_order_search(struct worker *w, uint32_t pid)
{
	uint64_t n = 0;

	pthread_mutex_lock(&w->lock);
	if (w->n_searches < SEARCHES_MAX) {
		w->searches[w->n_searches++] = pid;
		n = w->results.n_searches + w->n_searches;
	}
	thread_signal(w->order_fd);
	pthread_mutex_unlock(&w->lock);
	return n;
}

void worker_order_shed(struct worker *w, uint32_t shed_bits)
{
	pthread_mutex_lock(&w->lock);
	w->want_shed = shed_bits;
	thread_signal(w->order_fd);
	pthread_mutex_unlock(&w->lock);
}

uint64_t worker_cpu_ns(struct worker *w)
{
	uint64_t ns;

	pthread_mutex_lock(&w->lock);
	ns = w->has_clock ? clock_read_ns(w->clock) + worker_helper_cpu_ns(w) : w->results.cpu_ns;
	pthread_mutex_unlock(&w->lock);
	return ns;
}

bool worker_order_lookup(struct worker *w, uint32_t tid)
{
	bool room;

	pthread_mutex_lock(&w->lock);
	room = w->n_lookups < LOOKUPS_MAX;
	if (room)
		w->lookups[w->n_lookups++] = tid;
	thread_signal(w->order_fd);
	pthread_mutex_unlock(&w->lock);
	return room;
}

void worker_order_mappings(struct worker *w, uint32_t pid, uint64_t ts_ns)
{
	bool known = false;

	pthread_mutex_lock(&w->lock);
	for (unsigned i = 0; i < w->n_pending_checks; i++) {
		struct pending_check *check = &w->pending_checks[i];

		if (check->pid != pid)
			continue;
		known = true;
		check->mapped_ns = ts_ns < check->mapped_ns ? ts_ns : check->mapped_ns;
	}
	if (!known && w->n_pending_checks < PENDING_CHECKS_MAX)
		w->pending_checks[w->n_pending_checks++] = (struct pending_check){ pid, ts_ns };
	else if (!known && (!w->check_all_ns || ts_ns < w->check_all_ns))
		w->check_all_ns = ts_ns;
	thread_signal(w->order_fd);
	pthread_mutex_unlock(&w->lock);
}

bool worker_order_examination(struct worker *w, const struct rec_mapping *rec)
{
	bool room;

	pthread_mutex_lock(&w->lock);
	room = w->late_files.size + rec->head.size <= LATE_FILES_BYTES_MAX &&
	       outbuf_append(&w->late_files, rec, rec->head.size) == 0;
	thread_signal(w->order_fd);
	pthread_mutex_unlock(&w->lock);
	return room;
}

bool worker_fetch_memory(struct worker *w, struct outbuf *ret)
{
	bool any;

	pthread_mutex_lock(&w->lock);
	any = w->memory.size > 0;
	if (any) {
		*ret = w->memory;
		w->memory = (struct outbuf){ 0 };
		pthread_cond_signal(&w->not_full);
	}
	pthread_mutex_unlock(&w->lock);
	return any;
}

struct worker *worker_free(struct worker *w)
{
	if (!w)
		return NULL;
	worker_order(w, &w->abandoned);
	pthread_mutex_lock(&w->lock);
	if (w->busy) {
		w->counted = true;
		abandoned_threads_hang(w->abandoned_threads);
	}
	pthread_mutex_unlock(&w->lock);
	worker_release(w);
	return NULL;
}

int worker_fd(const struct worker *w)
{
	return w->event_fd;
}

void worker_fetch(struct worker *w, struct worker_results *ret)
{
	thread_quiet(w->event_fd);
	pthread_mutex_lock(&w->lock);
	*ret = w->results;
	w->results.error_text = NULL;
	w->results.tasks = w->results.looked_up = w->results.commands = w->results.cgroups =
		w->results.samples = w->results.mappings = w->results.waiting =
			w->results.examined = (struct outbuf){ 0 };
	w->results.n_unlisted = w->results.n_unread = 0;
	pthread_mutex_unlock(&w->lock);
}
