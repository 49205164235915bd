/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes whose allocations are watched: the worker's calls of capture/heap/heap-targets, and
 * their results.
 */
#include "capture/session/worker-state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "capture/heap/late-file.h"
#include "capture/probes/allocator-cache.h"

enum { MEMORY_BYTES_MAX = 8 << 20 }; /* maximum of data that was read, but not taken yet */

/* Passes data from the tables to the owner. Waits while the owner takes no data. */
int worker_pass_on(const struct rec_head *rec, void *userdata)
{
	struct worker *w = userdata;
	int r;

	pthread_mutex_lock(&w->lock);
	while (w->memory.size >= MEMORY_BYTES_MAX && !w->abandoned && !w->want_unload)
		pthread_cond_wait(&w->not_full, &w->lock);
	r = w->abandoned || w->want_unload ? -ECANCELED : outbuf_append(&w->memory, rec, rec->size);
	if (w->memory.size == rec->size || w->memory.size >= MEMORY_BYTES_MAX)
		worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
	return r;
}

/* Returns true if PID waits for a search. Only processes that are held at their exit wait. */
static bool worker_is_at_exit(uint32_t pid, void *userdata)
{
	struct worker *w = userdata;
	bool found = false;

	pthread_mutex_lock(&w->lock);
	for (unsigned i = 0; i < w->n_searches && !found; i++)
		found = w->searches[i] == pid;
	pthread_mutex_unlock(&w->lock);
	return found;
}

/* Reports an error with watched processes. */
static void worker_report_failure(struct worker *w, int error, const char *what)
{
	pthread_mutex_lock(&w->lock);
	if (w->results.error == 0) {
		w->results.error = error;
		if (asprintf(&w->results.error_text, "%s: %s", what, strerror(-error)) < 0)
			w->results.error_text = NULL;
	}
	worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
}

void worker_start_watching(struct worker *w, const struct outbuf *tasks)
{
	const struct memory_sink sink = {
		.emit = worker_pass_on,
		.called_off = worker_called_off,
		.userdata = w,
		.is_at_exit = worker_is_at_exit,
		.helper_cpu_ns = &w->helper_cpu_ns,
	};
	int r = heap_targets_new(&w->options, w->collector, &sink, tasks, &w->watching);

	w->failed = r < 0;
	if (w->failed)
		worker_report_failure(w, r, "cannot watch processes");
}

void worker_watch_if_due(struct worker *w)
{
	if (!w->watching)
		return;
	heap_targets_do_due_work(w->watching);
	if (clock_read_ns(CLOCK_MONOTONIC) < heap_trace_next_ns(heap_targets_memory(w->watching)))
		return;
	/*
	 * The code for stacks needs to know that these processes still belong to the user, so the
	 * list of own processes is read first.
	 */
	worker_list_own(w);
	heap_trace_tick(heap_targets_memory(w->watching));
}

/* Reports the content of the tables. FOR_GOOD: true = the recording ends, false = it pauses. */
void worker_finish_watching(struct worker *w, bool for_good)
{
	int r;

	pthread_mutex_lock(&w->lock);
	w->results.quiet = for_good;
	worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
	r = heap_trace_finish(heap_targets_memory(w->watching));
	/* -ECANCELED means that the result is no longer wanted, so it is no failure. */
	if (r < 0 && r != -ECANCELED)
		worker_report_failure(w, r, "cannot read the live blocks of watched processes");
	w->watching = heap_targets_free(w->watching);
}

void worker_take_snapshot(struct worker *w)
{
	int r;

	worker_list_own(w);
	r = heap_trace_snapshot(heap_targets_memory(w->watching));

	pthread_mutex_lock(&w->lock);
	w->results.n_snapshots = w->n_snapshots;
	w->results.snapshot_error = r;
	worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
}

/* Searches the first process that waits for a search. */
void worker_search(struct worker *w)
{
	uint32_t pid;
	int r;

	pthread_mutex_lock(&w->lock);
	pid = w->searches[0];
	pthread_mutex_unlock(&w->lock);
	r = w->watching ? heap_trace_search(heap_targets_memory(w->watching), pid) : 0;
	pthread_mutex_lock(&w->lock);
	memmove(w->searches, w->searches + 1, --w->n_searches * sizeof(*w->searches));
	w->results.n_searches++;
	w->results.search_error = r;
	worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
}

/* Checks the files of watched processes that have new mappings. */
void worker_check_files(struct worker *w)
{
	struct pending_check pending_checks[PENDING_CHECKS_MAX];
	uint64_t all_ns;
	unsigned n;

	pthread_mutex_lock(&w->lock);
	n = w->n_pending_checks;
	all_ns = w->check_all_ns;
	memcpy(pending_checks, w->pending_checks, n * sizeof(*pending_checks));
	w->n_pending_checks = 0;
	w->check_all_ns = 0;
	pthread_mutex_unlock(&w->lock);
	/*
	 * The check of all processes comes last. Processes in the list have earlier mappings, which
	 * that check would date too late.
	 */
	for (unsigned i = 0; w->watching && i < n; i++)
		heap_trace_check_process(heap_targets_memory(w->watching), pending_checks[i].pid,
					 pending_checks[i].mapped_ns);
	if (w->watching && all_ns)
		heap_trace_check_all(heap_targets_memory(w->watching), all_ns);
}

/* Takes the first file that waits. If there is no memory, drops all files and returns false. */
static bool worker_take_late_file(struct worker *w, struct outbuf *ret)
{
	struct outbuf *files = &w->late_files;
	uint32_t size;
	int r;

	pthread_mutex_lock(&w->lock);
	size = ((const struct rec_mapping *)files->data)->head.size;
	r = outbuf_append(ret, files->data, size);
	if (r == 0) {
		files->size -= size;
		memmove(files->data, files->data + size, files->size);
	} else {
		outbuf_deinit(files);
	}
	pthread_mutex_unlock(&w->lock);
	return r == 0;
}

/*
 * Examines one of the files that wait for an examination: this can take seconds, and other orders
 * come first. Its process has ended, so only its path is left.
 */
void worker_examine_file(struct worker *w)
{
	struct outbuf rec = { 0 };
	struct late_file file;

	if (!worker_take_late_file(w, &rec))
		return;
	if (!w->late_cache)
		allocator_cache_new(LATE_FILE_NS_MAX, &w->late_cache);
	file = late_file_examine(w->late_cache, (const struct rec_mapping *)rec.data);
	outbuf_deinit(&rec);
	pthread_mutex_lock(&w->lock);
	outbuf_append(&w->results.examined, &file, sizeof(file));
	worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
}
