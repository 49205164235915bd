/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/moments-stage.h"

#include <errno.h>
#include <string.h>

#include "capture/moments/moments.h"
#include "capture/stages/triggers.h"

_Static_assert(EVENT_MOMENT_BYTES_MAX >= sizeof(((struct rec_moment *)0)->data), "all of it");
_Static_assert(EVENT_MOMENT_REGISTERS == MOMENT_REGISTERS, "the same");
_Static_assert(MOMENT_POINTS_MAX <= 64, "a bit each");

static int moments_stage_open(void *stage)
{
	struct moments_stage *s = stage;
	int r = 0;

	for (uint32_t i = 0; s->moments && r == 0 && i < s->moments->n; i++) {
		const struct event ev = {
			.kind = EVENT_MOMENT_POINT,
			.ts_ns = s->pipe->from_ns,
			.moment_point = { .number = i, .plan = s->moments->places[i].text },
		};

		s->n_events++;
		s->n_points++;
		r = fxt_archive_event(s->pipe->archive, &ev);
	}
	return r;
}

static int moments_stage_write(struct moments_stage *s, const struct rec_moment *rec)
{
	const struct moment_plan *plan = &s->moments->places[rec->point].plan;
	const struct stack *stack = named_stacks_get(s->stacks, rec->stack);
	struct event ev = {
		.kind = EVENT_MOMENT,
		.ts_ns = rec->head.ts_ns,
		.pid = tasks_koid(s->pipe->tasks, rec->head.pid),
		.tid = tasks_koid(s->pipe->tasks, rec->head.tid),
		.cpu = rec->head.cpu,
		.moment = {
			.name = plan->name,
			.point = rec->point,
			.hit = rec->hit,
			.data = rec->registers, /* the data follows the registers */
			.n_bytes = sizeof(rec->registers) + rec->bytes,
		},
	};
	int r = pipeline_announce_thread(s->pipe, rec->head.tid, rec->head.pid);

	moment_values_fill(&s->values, plan, &ev);
	ev.moment.values = s->values.list;
	ev.moment.n_values = s->values.n;
	r = r ?: s->pipe->links.need_mappings(rec->head.pid, ev.ts_ns, s->pipe->links.userdata);
	/* The first frame is the point itself, so it is left out. */
	if (r == 0 && stack && stack->n_frames > 1)
		r = named_stacks_write(s->stacks, &rec->head, stack->frames + 1,
				       stack->n_frames - 1, &ev.moment.stack);
	s->n_events++;
	return r < 0 ? r : fxt_archive_event(s->pipe->archive, &ev);
}

/*
 * Carries out ACTION of the point of REC, once, if AT is not 0 and the number of hits has reached
 * AT.
 */
static int moments_stage_act(struct moments_stage *s, const struct rec_moment *rec, unsigned action,
			     uint64_t at)
{
	const struct trigger fired = {
		.kind = action == MOMENT_ACTION_STOP ? TRIGGER_MOMENT_STOP
						     : TRIGGER_MOMENT_SNAPSHOT,
		.ts_ns = rec->head.ts_ns,
		.value = rec->hit,
		.limit = at,
		.count = 1,
		.tid = rec->head.tid,
		.koid = tasks_koid(s->pipe->tasks, rec->head.tid),
		.notify = true,
	};
	uint64_t bit = UINT64_C(1) << rec->point;

	if (at == 0 || rec->hit < at || s->fired[action] & bit)
		return 0;
	s->fired[action] |= bit;
	return s->pipe->links.fire(&fired, s->pipe->links.userdata);
}

static int moments_stage_record(void *stage, const struct rec_head *head)
{
	struct moments_stage *s = stage;
	const struct rec_moment *rec = (const struct rec_moment *)head;
	const struct moment_plan *plan;

	if (!s->moments)
		return 0;
	if (rec->point >= s->moments->n) {
		s->n_dropped++;
		return 0;
	}
	if (head->ts_ns < s->pipe->from_ns || head->ts_ns > s->pipe->to_ns)
		return 0;
	plan = &s->moments->places[rec->point].plan;
	return moments_stage_write(s, rec)
		       ?: moments_stage_act(s, rec, MOMENT_ACTION_SNAPSHOT, plan->snapshot)
				  ?: moments_stage_act(s, rec, MOMENT_ACTION_STOP, plan->stop);
}

static int moments_stage_advance(void *stage, uint64_t horizon_ns)
{
	struct moments_stage *s = stage;

	(void)horizon_ns;
	return pipeline_write_shortage(s->pipe, CLASS_CALLS, &s->n_dropped);
}

/* Accepts REC_MOMENT, and triggers the actions that are due at this hit. */
const struct stage moments_stage = {
	.name = "moments",
	.handles = STAGE_HANDLES(REC_MOMENT),
	.record = moments_stage_record,
	.open = moments_stage_open,
	.advance = moments_stage_advance,
};
