/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/selection.h"

#include "base/clock.h"

int selection_add_mappings(struct selection *s, const struct outbuf *listed, uint64_t start_ns)
{
	size_t from = s->mappings.size;
	int r = outbuf_append(&s->mappings, listed->data, listed->size);

	for (size_t at = from; r == 0 && at < s->mappings.size;) {
		struct rec_head *head = (struct rec_head *)(s->mappings.data + at);

		head->ts_ns = start_ns;
		at += head->size;
	}
	return r;
}

/*
 * Handles a record of a task. Only selected tasks have records of this kind, so the task was
 * selected at the time of the record.
 */
static int selection_record(void *stage, const struct rec_head *rec)
{
	struct selection *s = stage;
	int r = s->pipe->own ? profiler_need(s->profiler, rec->pid, rec->ts_ns) : 0;

	return r == 0 && rec->kind == REC_FORK ? profiler_selected(s->profiler, rec->pid) : r;
}

/*
 * Writes the mappings that existed at the start. These do not pass through the merge, since there
 * can be many.
 */
static int selection_write_listed(struct selection *s)
{
	const struct rec_mapping *rec;
	int r = 0;

	while (r == 0 && s->at < s->mappings.size) {
		rec = (const struct rec_mapping *)(s->mappings.data + s->at);
		s->at += rec->head.size;
		r = pipeline_after(s->pipe, profiler_listed(s->profiler, rec));
	}
	if (r == 0 && s->at > 0) {
		outbuf_deinit(&s->mappings);
		s->at = 0;
	}
	return r;
}

/* Looks for losses before a round. Losses among the records of the round are already counted. */
static void selection_look_for_loss(struct selection *s)
{
	const struct pipeline_links *links = &s->pipe->links;
	uint64_t lost = links->n_lost(CLASS_LIFECYCLE, links->userdata) +
			links->n_lost(CLASS_MAPPINGS, links->userdata) +
			links->n_lost(CLASS_MALFORMED, links->userdata);

	if (lost != s->profiler->known_lost)
		profiler_doubt(s->profiler, clock_boot_ns());
	s->profiler->known_lost = lost;
}

static int selection_prepare(void *stage)
{
	struct selection *s = stage;
	int r = selection_write_listed(s);

	if (s->pipe->own)
		selection_look_for_loss(s);
	return r;
}

static int selection_end(void *stage)
{
	struct selection *s = stage;

	return profiler_finish(s->profiler);
}

static void selection_deinit(void *stage)
{
	struct selection *s = stage;

	outbuf_deinit(&s->mappings);
}

const struct stage selection_stage = {
	.name = "selection",
	.handles = STAGE_HANDLES(REC_FORK) | STAGE_HANDLES(REC_EXIT) | STAGE_TAKES_HEAP,
	.handles_results = STAGE_HANDLES(REC_TASK),
	.record = selection_record,
	.prepare = selection_prepare,
	.end = selection_end,
	.deinit = selection_deinit,
};
