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
#include "capture/recorder/recorder-stages.h"
#include "writer/fxt/fxt-holds.h"

enum { NAMED_WORDS = TASKS_TID_MAX / 64 };

bool recorder_can_split(const struct recorder *r, bool waiting)
{
	return r->pipe.splits && r->opened && !r->closed && r->collector && r->mappings.size == 0 &&
	       (waiting || r->allocations.n_in_snapshot == 0);
}

/*
 * The time until which the running thread of CPU is known: AT_NS, or the begin of a loss whose mark
 * was not read from the ring yet. (The programs write the mark when the ring has room again.)
 */
static uint64_t recorder_known_until(const struct recorder *r, unsigned cpu, uint64_t at_ns)
{
	const struct schedule_cpu *c = &r->schedule.cpus[cpu];
	struct collector_lost pending = collector_pending_lost(r->collector, CLASS_SCHED, cpu);
	uint64_t until_ns = at_ns, first_ns;

	if (pending.count > 0 && pending.first_ns < until_ns)
		until_ns = pending.first_ns;
	if (merge_peek_loss(r->merge, cpu, at_ns, &first_ns) && first_ns < until_ns)
		until_ns = first_ns;
	return until_ns < c->opened_ns ? c->opened_ns : until_ns;
}

static bool recorder_has_schedule(const struct recorder *r)
{
	return r->pipe.categories & CATEGORY_SCHED;
}

/* ---- tails ---- */

/* A loss that continues is counted in the chunk where it ends. */
static int recorder_say_pending_losses(const struct recorder *r, struct fxt_archive *to,
				       uint64_t at_ns)
{
	int error = 0;

	for (unsigned i = 0; error == 0 && i < CLASS_MAX * r->n_cpus; i++) {
		const enum event_class class = i / r->n_cpus;
		struct collector_lost lost =
			collector_pending_lost(r->collector, class, i % r->n_cpus);
		const struct event ev = {
			.kind = EVENT_LOST,
			.ts_ns = lost.first_ns < r->chunk_ns ? r->chunk_ns : lost.first_ns,
			.cpu = i % r->n_cpus,
			.lost = {
				.class_name = event_class_names[class],
				.first_ns = lost.first_ns,
				.last_ns = at_ns,
			},
		};

		if (lost.count > 0 && lost.first_ns < at_ns)
			error = fxt_archive_event(to, &ev);
	}
	return error;
}

int recorder_tail_asked(const struct recorder *r, struct fxt_archive *to, uint64_t at_ns)
{
	(void)at_ns;
	return lifecycle_say_asked(&r->lifecycle, to);
}

/* Closes open intervals. */
int recorder_tail_timelines(const struct recorder *r, struct fxt_archive *to, uint64_t at_ns)
{
	int error = recorder_say_pending_losses(r, to, at_ns);

	for (unsigned cpu = 0; error == 0 && recorder_has_schedule(r) && cpu < r->n_cpus; cpu++)
		error = schedule_say(&r->schedule, to, cpu, recorder_known_until(r, cpu, at_ns),
				     false);
	return error;
}

static int recorder_write_tail(const struct recorder *r, struct fxt_archive *to, uint64_t at_ns,
			       const struct recorder_end *end)
{
	int error = RECORDER_EACH(tail, r, to, at_ns);

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
	fxt_archive_go_on(&part);
	error = recorder_write_tail(r, &part, at_ns, end);
	fxt_archive_deinit(&part);
	return error;
}

/* ---- heads ---- */

/* Names TID, unless the head has named it already. */
static int recorder_chunk_name(uint32_t tid, void *userdata)
{
	struct recorder_head *h = userdata;
	const struct tasks *tasks = &h->recorder->tasks;
	uint64_t bit = UINT64_C(1) << (tid % 64);
	const struct task *task;
	struct event ev;

	if (tid == 0 || tid >= TASKS_TID_MAX || h->named[tid / 64] & bit)
		return 0;
	h->named[tid / 64] |= bit;
	task = tasks_find(tasks, tid);
	if (!task)
		return lifecycle_say_unknown(&h->recorder->lifecycle, &h->part, tid, tid);
	tasks_describe(tasks, task, &ev);
	return fxt_archive_event(&h->part, &ev);
}

/* Names TID and its process. */
int recorder_head_name(uint32_t tid, void *userdata)
{
	const struct recorder_head *h = userdata;
	const struct task *task = tasks_find(&h->recorder->tasks, tid);
	int error = task ? recorder_chunk_name(task->pid, userdata) : 0;

	return error < 0 ? error : recorder_chunk_name(tid, userdata);
}

/* Names all live tasks; with a filter, those that the archive shows. */
int recorder_head_tasks(struct recorder_head *h)
{
	const struct recorder *r = h->recorder;
	const struct task *task;
	int error = 0;

	for (size_t pos = 0; error == 0 && (task = table_next(&r->tasks.by_tid, &pos));)
		if (!r->pipe.filtered || tasks_announced(&r->tasks, task->tid))
			error = recorder_head_name(task->tid, h);
	return error;
}

/* The process of EV may have ended, and another one may have its id. */
static int recorder_name_process_of(struct recorder_head *h, const struct event *ev)
{
	uint32_t tid = fxt_koid_tid(ev->pid);

	return tasks_koid(&h->recorder->tasks, tid) == ev->pid ? recorder_head_name(tid, h) : 0;
}

/* Writes the held event SAID, as of the begin of the chunk. */
static int recorder_say_again(struct recorder_head *h, const struct event *said)
{
	struct event ev = *said;
	int error = recorder_name_process_of(h, said);

	ev.ts_ns = h->at_ns;
	/* With a log of each event, earlier allocations are in another chunk. */
	if (ev.kind == EVENT_WATCH_BEGIN && h->recorder->allocations.log)
		ev.watch.complete = false;
	/* Blocks can refer to the name of a context that has ended. */
	if (ev.kind == EVENT_CONTEXT && !said->context.begin) {
		ev.context.begin = true;
		error = error < 0 ? error : fxt_archive_event(&h->part, &ev);
		ev.context.begin = false;
	}
	return error < 0 ? error : fxt_archive_event(&h->part, &ev);
}

int recorder_head_marks(struct recorder_head *h)
{
	const struct fxt_held *held = NULL;
	const struct event lost = {
		.kind = EVENT_LOST,
		.ts_ns = h->at_ns,
		.lost = {
			/* only this class has that many events */
			.class_name = event_class_names[CLASS_MEMORY],
			.count = fxt_holds_left_out(h->recorder->holds),
			.first_ns = h->at_ns,
			.last_ns = h->at_ns,
		},
	};
	int error = 0;

	while (error == 0 && (held = fxt_holds_next(h->recorder->holds, held)))
		error = recorder_say_again(h, held->what);
	return error == 0 && lost.lost.count > 0 ? fxt_archive_event(&h->part, &lost) : error;
}

int recorder_head_mappings(struct recorder_head *h)
{
	return profiler_say_mappings(&h->recorder->profiler, &h->part, h->at_ns, recorder_head_name,
				     h);
}

int recorder_head_blocks(struct recorder_head *h)
{
	return allocations_say_blocks(&h->recorder->allocations, &h->part, h->at_ns,
				      recorder_head_name, h);
}

static int recorder_chunk_open_cpu(struct recorder_head *h, unsigned cpu)
{
	const struct schedule *s = &h->recorder->schedule;
	int error = s->cpus[cpu].known ? recorder_head_name(s->cpus[cpu].tid, h) : 0;

	return error < 0 ? error : schedule_say(s, &h->part, cpu, s->cpus[cpu].opened_ns, true);
}

int recorder_head_timelines(struct recorder_head *h)
{
	const struct recorder *r = h->recorder;
	int error = 0;

	for (unsigned cpu = 0; error == 0 && recorder_has_schedule(r) && cpu < r->n_cpus; cpu++)
		error = recorder_chunk_open_cpu(h, cpu);
	return error;
}

static int recorder_chunk_write_head(struct recorder_head *h, const struct session_options *options)
{
	const struct recorder *r = h->recorder;
	int error = fxt_archive_begin(&h->part);

	if (error == 0)
		error = recorder_write_start(r, &h->part, options, h->at_ns);
	if (error == 0)
		error = recorder_write_clock(&h->part, h->at_ns);
	if (error == 0)
		error = recorder_write_sampling(r, &h->part, options, h->at_ns);
	if (error == 0)
		error = fxt_archive_repeat_tracks(&h->part, &r->archive);
	if (error == 0)
		error = fxt_archive_repeat_losses(&h->part, &r->archive, h->at_ns);
	return error == 0 ? RECORDER_EACH(head, h) : error;
}

/* ---- both ---- */

/* Packets no longer need the mappings of PID. */
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

/*
 * Forgets tasks that have ended without a record: the filter no longer selected them (they had
 * another name, or had run a program with other rights), or the record was lost. Heads name only
 * live tasks.
 */
static int recorder_chunk_forget_gone(struct recorder *r, uint64_t at_ns)
{
	_cleanup_free_ uint32_t *gone = NULL;
	ssize_t n = r->pipe.owner.is_gone
			    ? tasks_find_gone(&r->tasks, at_ns, r->pipe.owner.is_gone, &gone)
			    : 0;
	int error = n < 0 ? (int)n : 0;

	for (ssize_t i = 0; error == 0 && i < n; i++)
		error = recorder_forget_task(r, gone[i], at_ns);
	return error;
}

/* (packets go into the body, since a snapshot has several bodies and one tail) */
int recorder_split_lifecycle(struct recorder *r, uint64_t at_ns)
{
	int error = recorder_chunk_forget_gone(r, at_ns);

	if (error == 0)
		error = fxt_archive_packets(&r->archive, true);
	return error == 0 ? lifecycle_split(&r->lifecycle) : error;
}

void recorder_next_timelines(struct recorder *r, uint64_t at_ns)
{
	for (unsigned cpu = 0; recorder_has_schedule(r) && cpu < r->n_cpus; cpu++)
		schedule_opened(&r->schedule, cpu, recorder_known_until(r, cpu, at_ns));
	schedule_split(&r->schedule, at_ns);
}

static void recorder_chunk_begin_chunk(struct recorder *r, uint64_t at_ns)
{
	r->chunk++;
	r->chunk_ns = r->pipe.split_ns = at_ns;
	r->base = recorder_sums(r);
	for (size_t i = 0; i < RECORDER_STAGES; i++)
		if (recorder_stages[i].next_chunk)
			recorder_stages[i].next_chunk(r, at_ns);
}

int recorder_split(struct recorder *r, uint64_t at_ns, const struct session_options *options,
		   const struct recorder_end *end, struct outbuf *tail, struct outbuf *head)
{
	_cleanup_free_ uint64_t *named = calloc(NAMED_WORDS, sizeof(*named));
	struct recorder_head h = {
		.recorder = r,
		.at_ns = at_ns,
		.named = named,
	};
	int error = named ? RECORDER_EACH(split, r, at_ns) : -ENOMEM;

	if (error == 0)
		error = recorder_tail(r, at_ns, end, tail);
	if (error < 0)
		return error;
	recorder_chunk_begin_chunk(r, at_ns);
	error = fxt_archive_init_part(&h.part, &r->archive, head);
	if (error < 0)
		return error;
	error = recorder_chunk_write_head(&h, options);
	fxt_archive_deinit(&h.part);
	if (error == 0)
		error = tasks_split(&r->tasks);
	return error < 0 ? error : fxt_archive_forget(&r->archive);
}
