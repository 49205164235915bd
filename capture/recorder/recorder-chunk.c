/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The split of a recording: the tail of one chunk and the head of the next
 * (docs/architecture/chunks.md).
 *
 * A head contains exactly the state after the earlier bodies: live tasks, mappings, watched
 * processes, running threads. So bodies contain each fact once, and follow each other without a
 * gap. Only strings and threads are registered again, since their indices can differ between parts.
 * Heads and tails have their own tables, and change no state.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "capture/recorder/recorder-parts.h"

enum { NAMED_WORDS = TASKS_TID_MAX / 64 };

bool recorder_can_split(const struct recorder *r, bool waiting)
{
	return r->pipe.splits && r->opened && !r->closed && r->pipe.collector &&
	       r->selection.mappings.size == 0 && (waiting || r->allocations.n_in_snapshot == 0);
}

/* ---- tails ---- */

static int recorder_write_tail(const struct recorder *r, struct fxt_archive *to, uint64_t at_ns,
			       const struct recorder_end *end)
{
	int error = RECORDER_EACH(r, tail, to, at_ns);

	if (error == 0)
		error = fxt_archive_copy_packets(&r->archive, to);
	if (error == 0)
		error = recorder_write_clock(to, at_ns);
	return error < 0 ? error : recorder_write_stop(r, to, at_ns, end);
}

int recorder_tail(const struct recorder *r, uint64_t at_ns, const struct recorder_end *end,
		  struct outbuf *tail)
{
	struct fxt_archive part;
	int error = fxt_archive_init_part(&part, &r->archive, tail);

	if (error < 0)
		return error;
	fxt_archive_continue(&part);
	error = recorder_write_tail(r, &part, at_ns, end);
	fxt_archive_deinit(&part);
	return error;
}

/* ---- heads ---- */

/* The head of a chunk that is being written. */
struct recorder_head {
	const struct recorder *recorder;
	struct fxt_archive part;
	uint64_t *named; /* a bit for each tid: the head has named it. Owned */
};

/* Writes the name of TID, unless the head has it already. */
static int recorder_chunk_name(struct recorder_head *h, uint32_t tid)
{
	const struct tasks *tasks = &h->recorder->tasks;
	uint64_t bit = UINT64_C(1) << (tid % 64);
	const struct task *task;
	struct event ev;

	if (tid == 0 || tid >= TASKS_TID_MAX || h->named[tid / 64] & bit)
		return 0;
	h->named[tid / 64] |= bit;
	task = tasks_find(tasks, tid);
	if (!task)
		return lifecycle_write_unknown(&h->recorder->lifecycle, &h->part, tid, tid);
	tasks_describe(tasks, task, &ev);
	return fxt_archive_event(&h->part, &ev);
}

/* Writes the names of TID and of its process. */
static int recorder_chunk_name_both(uint32_t tid, void *userdata)
{
	struct recorder_head *h = userdata;
	const struct task *task = tasks_find(&h->recorder->tasks, tid);
	int r = task ? recorder_chunk_name(h, task->pid) : 0;

	return r < 0 ? r : recorder_chunk_name(h, tid);
}

static int recorder_chunk_write_head(struct recorder_head *h, uint64_t at_ns,
				     const struct session_options *options)
{
	const struct recorder *r = h->recorder;
	const struct stage_head head = { &h->part, at_ns, recorder_chunk_name_both, h };
	int error = fxt_archive_begin(&h->part);

	if (error == 0)
		error = recorder_write_start(r, &h->part, options, at_ns);
	if (error == 0)
		error = recorder_write_clock(&h->part, at_ns);
	if (error == 0)
		error = recorder_write_sampling(r, &h->part, options, at_ns);
	if (error == 0)
		error = fxt_archive_repeat_tracks(&h->part, &r->archive);
	if (error == 0)
		error = fxt_archive_repeat_losses(&h->part, &r->archive, at_ns);
	return error == 0 ? RECORDER_EACH(r, head, &head) : error;
}

/* ---- both ---- */

/* Forgets process PID: packets no longer need its mappings. */
static int recorder_forget_packets_of(struct recorder *r, uint32_t pid, uint64_t at_ns)
{
	const uint32_t koid = tasks_koid(&r->tasks, pid);
	int error = fxt_archive_gather(&r->archive, &(struct event){ .kind = EVENT_EXIT,
								     .ts_ns = at_ns,
								     .pid = koid,
								     .tid = koid,
								     .exit.process_ends = true });

	return error < 0 ? error : 0;
}

int recorder_forget_task(struct recorder *r, uint32_t tid, uint64_t at_ns)
{
	const struct task *task = tasks_get(&r->tasks, tid);
	int error = 0;

	profiler_forget_left(&r->profiler, tid);
	if (task->tid == task->pid) {
		error = profiler_ended(&r->profiler, task->pid);
		if (error == 0)
			error = recorder_forget_packets_of(r, task->pid, at_ns);
		allocations_ended(&r->allocations, task->pid);
		tasks_set_ended(&r->tasks, task->pid);
	}
	tasks_forget(&r->tasks, tid);
	return error;
}

static void recorder_chunk_begin_chunk(struct recorder *r, uint64_t at_ns)
{
	r->chunk++;
	r->pipe.chunk_ns = r->pipe.split_ns = at_ns;
	r->base = recorder_sums(r);
	for (size_t i = 0; i < RECORDER_STAGES; i++)
		if (recorder_stages[i].ops->next_chunk)
			recorder_stages[i].ops->next_chunk(recorder_state(r, i), at_ns);
}

int recorder_split(struct recorder *r, uint64_t at_ns, const struct session_options *options,
		   const struct recorder_end *end, struct outbuf *tail, struct outbuf *head)
{
	_cleanup_free_ uint64_t *named = calloc(NAMED_WORDS, sizeof(*named));
	struct recorder_head h = { .recorder = r, .named = named };
	int error = named ? RECORDER_EACH(r, split, at_ns) : -ENOMEM;

	if (error == 0)
		error = recorder_tail(r, at_ns, end, tail);
	if (error < 0)
		return error;
	recorder_chunk_begin_chunk(r, at_ns);
	error = fxt_archive_init_part(&h.part, &r->archive, head);
	if (error < 0)
		return error;
	error = recorder_chunk_write_head(&h, at_ns, options);
	fxt_archive_deinit(&h.part);
	if (error == 0)
		error = tasks_split(&r->tasks);
	return error < 0 ? error : fxt_archive_forget(&r->archive);
}
