/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads processes that run: the kernel's lists of their resources, snapshots, searches.
 */
#include "capture/heap/heap-trace-parts.h"

#include "base/clock.h"
#include "base/outbuf.h"
#include "capture/heap/heap-trace-reach.h"
#include "capture/heap/resource-lists.h"
#include "capture/heap/task-list.h"
#include "capture/proc/proc.h"

/* The time limit for the search of all processes. */
#define SEARCH_NS_MAX UINT64_C(60000000000)

bool heap_trace_may_check(const struct heap_trace *m, uint32_t pid, struct rec_task *ret)
{
	return !m->options->own || task_list_process(m->collector, pid, ret);
}

bool heap_trace_was_same(const struct heap_trace *m, const struct rec_task *before)
{
	struct rec_task now;

	return !m->options->own || (task_list_process(m->collector, before->task.tid, &now) &&
				    task_list_same(before, &now));
}

static int heap_trace_keep_record(const struct rec_head *rec, void *userdata)
{
	return outbuf_append(userdata, rec, rec->size);
}

/*
 * Sends LIST if it is complete. With `own`, the process must also have been the same program of the
 * user during the whole listing.
 */
static int heap_trace_list_whole(struct heap_trace *m, const struct resource_list *list)
{
	_cleanup_(outbuf_deinit) struct outbuf kept = { 0 };
	const struct memory_sink sink = {
		.emit = heap_trace_keep_record,
		.userdata = &kept,
		.helper_cpu_ns = m->sink.helper_cpu_ns,
	};
	const struct rec_head *rec;
	struct rec_task program;
	int r = 0;

	if (!heap_trace_may_check(m, list->pid, &program))
		return 0;
	r = resource_list_send(list, &sink);
	/* An exiting process would seem to have no resources, so its lists are not sent. */
	if (r < 0 || proc_is_exiting(list->pid) || !heap_trace_was_same(m, &program))
		return r;
	for (size_t at = 0; r == 0 && at < kept.size; at += rec->size) {
		rec = (const struct rec_head *)(kept.data + at);
		r = m->sink.emit(rec, m->sink.userdata);
	}
	return r;
}

int heap_trace_list_resources(struct heap_trace *m, uint32_t pid, uint32_t instance, bool first)
{
	const struct resource_list list = {
		.pid = pid,
		.instance = instance,
		.categories = m->options->categories,
		.first = first,
		.own = m->options->own,
		.uid = m->options->own_uid,
	};

	if (!(m->options->categories & CATEGORIES_SYSCALLS) || m->error < 0)
		return 0;
	return heap_trace_list_whole(m, &list);
}

static void heap_trace_choose_living(struct heap_trace *m)
{
	struct memory_process process;
	struct heap_image *image;

	for (size_t pos = 0; (image = table_next(&m->images.by_instance, &pos));)
		image->lives =
			image->announced && !image->ended && heap_trace_runs(m, image, &process);
}

static void heap_trace_list_living(struct heap_trace *m)
{
	const struct heap_image *image;

	for (size_t pos = 0; (image = table_next(&m->images.by_instance, &pos));)
		if (image->lives)
			heap_trace_list_resources(m, image->process.pid, image->process.instance,
						  false);
}

int heap_trace_snapshot(struct heap_trace *m)
{
	_cleanup_(outbuf_deinit) struct outbuf kept = { 0 };
	uint64_t ts_ns;
	int r;

	heap_trace_drain_events(m);
	r = heap_trace_finish_now(m, HEAP_TRACE_FINISH_NS_MAX);
	if (r >= 0)
		r = heap_trace_announce_ready(m);
	if (r < 0)
		return r;
	heap_trace_choose_living(m);
	heap_trace_list_living(m);
	ts_ns = clock_boot_ns();
	/*
	 * With the log, events report the blocks that are made from now on, so these are left out
	 * here.
	 */
	r = heap_tables_keep(&m->tables, &m->images, m->options->memory.log ? ts_ns : UINT64_MAX,
			     &kept);
	if (!m->options->memory.log)
		ts_ns = clock_boot_ns();
	heap_trace_choose_living(m); /* no records of a process after its end */
	/* Sums are reported after the copy, so that the stacks of all copied blocks are known. */
	r = r ?: heap_tables_usage(&m->tables, &m->images, ts_ns, &m->sink);
	return r < 0 ? r : heap_tables_emit_kept(&m->images, ts_ns, &kept, &m->sink);
}

int heap_trace_search_images(struct heap_trace *m, uint32_t pid)
{
	struct rec_task program;
	struct memory_search how = {
		.collector = m->collector,
		.blocks_fd = m->own.blocks_fd,
		.ended_threads_fd = m->own.ended_threads_fd,
		.killed_threads_fd = m->own.killed_threads_fd,
		.options = m->options,
		.deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + SEARCH_NS_MAX,
		.still = pid != 0,
	};
	struct memory_process process;
	struct heap_image *image;
	int r = 0;

	for (size_t pos = 0; (image = table_next(&m->images.by_instance, &pos));) {
		bool is_known;

		if ((pid && image->process.pid != pid) || !heap_trace_runs(m, image, &process))
			continue;
		is_known = task_list_process(m->collector, process.pid, &program);
		if (m->options->own && !is_known)
			continue;
		how.program = is_known ? &program : NULL;
		image->process = process;
		r = heap_trace_reach_search(&how, image);
		if (!heap_trace_was_same(m, &program))
			memory_image_forget_reach(image);
	}
	return r;
}

int heap_trace_search(struct heap_trace *m, uint32_t pid)
{
	struct heap_probes *traced = heap_trace_probes_of(m, pid);
	int r;

	/* (the process that has this id now can be another one, which is not watched) */
	if (!heap_trace_is_watched(m, pid))
		return 0;
	/* The process is held at its exit, and can have loaded files that were not examined yet. */
	if (traced)
		heap_trace_check(m, traced);
	r = heap_trace_know_watched(m);
	return r < 0 ? r : heap_trace_search_images(m, pid);
}
