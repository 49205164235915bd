/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/timelines.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "capture/programs/collector.h"
#include "capture/programs/cpus.h"

enum { OTHER_PRIO = 120 };

/* Forgets the running threads. They are then unknown, or, with a filter, count as "other". */
static int timelines_forget(void *stage)
{
	struct timelines *t = stage;

	for (unsigned cpu = 0; cpu < t->pipe->n_cpus; cpu++)
		t->running[cpu] =
			t->pipe->filtered ? (uint64_t)OTHER_PRIO << 32 | (FXT_KOID_OTHER + cpu) : 0;
	return 0;
}

static int timelines_begin(void *stage, const struct session_options *o)
{
	struct timelines *t = stage;

	(void)o;
	t->running = calloc(t->pipe->n_cpus, sizeof(*t->running));
	return t->running ? timelines_forget(t) : -ENOMEM;
}

static void timelines_deinit(void *stage)
{
	struct timelines *t = stage;

	free(t->running);
}

void timelines_learned(struct timelines *t, const struct rec_task *rec)
{
	if (rec->task.flags & IDENTITY_ON_CPU && rec->task.flags & IDENTITY_SELECTED &&
	    rec->head.cpu < t->pipe->n_cpus)
		t->running[rec->head.cpu] =
			(uint64_t)(uint32_t)rec->task.prio << 32 | rec->task.tid;
}

static bool timelines_are_recorded(const struct timelines *t)
{
	return t->pipe->categories & CATEGORY_SCHED;
}

/* Opens the timeline of CPU with the thread that was running when the eBPF programs began. */
static int timelines_open_cpu(struct timelines *t, unsigned cpu)
{
	const struct pipeline_links *links = &t->pipe->links;
	uint32_t tid = (uint32_t)t->running[cpu];
	int32_t prio = (int32_t)(t->running[cpu] >> 32);

	links->first_running(cpu, &tid, &prio, links->userdata);
	return schedule_open(t->schedule, cpu, tid, prio);
}

static int timelines_open(void *stage)
{
	struct timelines *t = stage;
	unsigned n_cpus = t->pipe->n_cpus;
	_cleanup_free_ bool *online = calloc(n_cpus, sizeof(*online));
	int r = 0;

	if (!online)
		return -ENOMEM;
	cpus_online(online, n_cpus);
	for (unsigned cpu = 0; r == 0 && cpu < n_cpus; cpu++)
		if (timelines_are_recorded(t) && online[cpu])
			r = timelines_open_cpu(t, cpu);
	return r;
}

/*
 * Returns the time until which the running thread of CPU is known: AT_NS, or the start of a loss
 * whose mark was not read from the ring yet. (The eBPF programs write the mark when the ring has
 * room again.)
 */
static uint64_t timelines_known_until(const struct timelines *t, unsigned cpu, uint64_t at_ns)
{
	const struct pipeline *pipe = t->pipe;
	const struct schedule_cpu *c = &t->schedule->cpus[cpu];
	struct collector_lost pending = collector_pending_lost(pipe->collector, CLASS_SCHED, cpu);
	uint64_t until_ns = at_ns, first_ns;

	if (pending.count > 0 && pending.first_ns < until_ns)
		until_ns = pending.first_ns;
	if (pipe->links.loss_is_next(cpu, at_ns, &first_ns, pipe->links.userdata) &&
	    first_ns < until_ns)
		until_ns = first_ns;
	return until_ns < c->opened_ns ? c->opened_ns : until_ns;
}

/* Closes open intervals. */
static int timelines_tail(const void *stage, struct fxt_archive *to, uint64_t at_ns)
{
	const struct timelines *t = stage;
	int r = 0;

	for (unsigned cpu = 0; r == 0 && timelines_are_recorded(t) && cpu < t->pipe->n_cpus; cpu++)
		r = schedule_write(t->schedule, to, cpu, timelines_known_until(t, cpu, at_ns),
				   false);
	return r;
}

static void timelines_next_chunk(void *stage, uint64_t at_ns)
{
	struct timelines *t = stage;

	for (unsigned cpu = 0; timelines_are_recorded(t) && cpu < t->pipe->n_cpus; cpu++)
		schedule_opened(t->schedule, cpu, timelines_known_until(t, cpu, at_ns));
	schedule_split(t->schedule, at_ns);
}

static int timelines_head_cpu(const struct timelines *t, const struct stage_head *h, unsigned cpu)
{
	const struct schedule_cpu *c = &t->schedule->cpus[cpu];
	int r = c->known ? h->name(c->tid, h->userdata) : 0;

	return r < 0 ? r : schedule_write(t->schedule, h->to, cpu, c->opened_ns, true);
}

static int timelines_head(const void *stage, const struct stage_head *h)
{
	const struct timelines *t = stage;
	int r = 0;

	for (unsigned cpu = 0; r == 0 && timelines_are_recorded(t) && cpu < t->pipe->n_cpus; cpu++)
		r = timelines_head_cpu(t, h, cpu);
	return r;
}

const struct stage timelines_stage = {
	.name = "timelines",
	.begin = timelines_begin,
	.open = timelines_open,
	.resume = timelines_forget,
	.tail = timelines_tail,
	.next_chunk = timelines_next_chunk,
	.head = timelines_head,
	.deinit = timelines_deinit,
};
