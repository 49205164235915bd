/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/tracepoints-stage.h"

_Static_assert(TRACEPOINTS_MAX <= UINT16_MAX, "the number in a record");

/*
 * Sets the thread of EV, and writes its identity. In an interrupt, and in the idle thread, this is
 * a pseudo-thread of the CPU.
 */
static int tracepoints_stage_find_thread(struct tracepoints_stage *s,
					 const struct rec_tracepoint *rec, struct event *ev)
{
	static const struct {
		enum fxt_track track;
		uint32_t process;
	} tracks[] = {
		[TRACEPOINT_BY_TASK] = { FXT_TRACK_IDLE, FXT_KOID_POWER },
		[TRACEPOINT_BY_SOFTIRQ] = { FXT_TRACK_SOFTIRQ, FXT_KOID_SOFTIRQ },
		[TRACEPOINT_BY_IRQ] = { FXT_TRACK_IRQ, FXT_KOID_IRQ },
	};

	if (rec->actor == TRACEPOINT_BY_TASK && rec->head.tid != 0) {
		ev->pid = tasks_koid(s->pipe->tasks, rec->head.pid);
		ev->tid = tasks_koid(s->pipe->tasks, rec->head.tid);
		return pipeline_announce_thread(s->pipe, rec->head.tid, rec->head.pid);
	}
	ev->pid = tracks[rec->actor].process;
	ev->tid = fxt_archive_track_koid(tracks[rec->actor].track, rec->head.cpu);
	return fxt_archive_track(s->pipe->archive, tracks[rec->actor].track, rec->head.cpu);
}

static int tracepoints_stage_record(void *stage, const struct rec_head *head)
{
	struct tracepoints_stage *s = stage;
	const struct rec_tracepoint *rec = (const struct rec_tracepoint *)head;
	const struct tracepoint *t;
	struct event ev = {
		.kind = EVENT_TRACEPOINT,
		.ts_ns = head->ts_ns,
		.cpu = head->cpu,
	};
	int r;

	if (!s->tracepoints || head->ts_ns < s->pipe->from_ns || head->ts_ns > s->pipe->to_ns)
		return 0;
	if (rec->tracepoint >= s->tracepoints->n ||
	    !tracepoint_values_fill(&s->values, &s->tracepoints->list[rec->tracepoint], rec)) {
		s->n_dropped++;
		return 0;
	}
	t = &s->tracepoints->list[rec->tracepoint];
	ev.tracepoint.name = t->name;
	ev.tracepoint.args = s->values.list;
	ev.tracepoint.n_args = s->values.n;
	r = tracepoints_stage_find_thread(s, rec, &ev);
	if (r < 0)
		return r;
	s->n_events++;
	return fxt_archive_event(s->pipe->archive, &ev);
}

static int tracepoints_stage_advance(void *stage, uint64_t horizon_ns)
{
	struct tracepoints_stage *s = stage;

	(void)horizon_ns;
	return pipeline_write_shortage(s->pipe, CLASS_TRACEPOINTS, &s->n_dropped);
}

/* Accepts REC_TRACEPOINT. */
const struct stage tracepoints_stage = {
	.name = "tracepoints",
	.handles = STAGE_HANDLES(REC_TRACEPOINT),
	.record = tracepoints_stage_record,
	.advance = tracepoints_stage_advance,
};
