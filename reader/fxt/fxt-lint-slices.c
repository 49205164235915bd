/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks the durations of each thread in order of time. They form a stack that works as in
 * Perfetto: an end closes the innermost open duration. A complete duration is removed when its end
 * has passed.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "reader/fxt/fxt-lint-state.h"

#define OPEN UINT64_MAX

static struct fxt_lint_track *fxt_lint_slices_get_track(struct fxt_lint *l,
							const struct fxt_record *r)
{
	const uint64_t key[] = { r->thread.pid, r->thread.tid };
	struct fxt_lint_track *t = fxt_lint_get(l, &l->tracks, table_hash(key, sizeof(key)),
						sizeof(*t), FXT_LINT_TRACKS_MAX);

	if (t && t->first.number == 0) {
		t->pid = key[0];
		t->tid = key[1];
		t->first = l->here;
	}
	return t;
}

void fxt_lint_event(struct fxt_lint *l, const struct fxt_record *r)
{
	static const uint8_t kinds[] = {
		[FXT_EVENT_DURATION_BEGIN] = FXT_LINT_BEGIN,
		[FXT_EVENT_DURATION_END] = FXT_LINT_END,
		[FXT_EVENT_DURATION_COMPLETE] = FXT_LINT_COMPLETE,
		[FXT_EVENT_ASYNC_BEGIN] = FXT_LINT_ASYNC_BEGIN,
		[FXT_EVENT_ASYNC_INSTANT] = FXT_LINT_ASYNC_INSTANT,
		[FXT_EVENT_ASYNC_END] = FXT_LINT_ASYNC_END,
		[FXT_EVENT_FLOW_BEGIN] = FXT_LINT_FLOW_BEGIN,
		[FXT_EVENT_FLOW_STEP] = FXT_LINT_FLOW_STEP,
		[FXT_EVENT_FLOW_END] = FXT_LINT_FLOW_END,
	};
	struct fxt_lint_fact fact = { .ts_ns = r->ts_ns, .place = l->here, .b = r->event.value };
	struct fxt_lint_track *track;

	if (!r->thread.defined)
		return;
	track = fxt_lint_slices_get_track(l, r);
	if (track)
		track->of_program |= l->has_kymo && !r->provider->is_kymo;
	if (r->subtype < FXT_EVENT_DURATION_BEGIN || r->subtype > FXT_EVENT_FLOW_END)
		return;
	fact.kind = kinds[r->subtype];
	switch (r->subtype) {
	case FXT_EVENT_ASYNC_BEGIN:
	case FXT_EVENT_ASYNC_INSTANT:
	case FXT_EVENT_ASYNC_END:
		fact.a = fxt_lint_async_key(r);
		break;
	default:
		if (!track) {
			l->n_not_judged++;
			return;
		}
		fact.track = track;
		if (r->name.bytes && r->name.length > 0)
			fact.name = (uint32_t)table_hash(r->name.bytes, r->name.length);
		if (r->subtype == FXT_EVENT_DURATION_COMPLETE)
			fact.b = r->event.end_ns;
	}
	fxt_lint_order_add(l, &fact);
}

static void fxt_lint_slices_find(struct fxt_lint *l, enum fxt_finding_id id,
				 const struct fxt_lint_track *t, struct fxt_lint_place place)
{
	fxt_lint_find(l, id, place, t->pid, t->tid);
}

/*
 * Removes the complete duration at I from the stack. Open durations above I would end later than
 * the duration around them, so they are reported.
 */
static void fxt_lint_slices_cut(struct fxt_lint *l, struct fxt_lint_track *t, size_t i)
{
	for (size_t above = i + 1; above < t->depth; above++)
		if (t->stack[above].end_ns == OPEN)
			fxt_lint_slices_find(l, FXT_FINDING_COMPLETE_OVERLAP, t,
					     t->stack[above].place);
	t->depth--;
	memmove(t->stack + i, t->stack + i + 1, (t->depth - i) * sizeof(*t->stack));
}

/* Removes complete durations that ended by NS. */
static void fxt_lint_slices_settle(struct fxt_lint *l, struct fxt_lint_track *t, uint64_t ns)
{
	bool open_above = false;

	for (size_t i = t->depth; i-- > 0;) {
		uint64_t end = t->stack[i].end_ns;

		if (end == OPEN) {
			open_above = true;
		} else if (open_above ? end < ns : end <= ns) {
			fxt_lint_slices_cut(l, t, i);
		}
	}
}

static void fxt_lint_slices_push(struct fxt_lint *l, struct fxt_lint_track *t,
				 const struct fxt_lint_fact *fact, uint64_t end_ns)
{
	if (t->depth == FXT_LINT_DEPTH_MAX) {
		l->n_not_judged++;
		t->unknown = true;
		return;
	}
	if (GROW(t->stack, t->room, t->depth + 1) < 0) {
		l->error = -ENOMEM;
		return;
	}
	t->stack[t->depth++] = (struct fxt_lint_slice){ end_ns, fact->name, fact->place };
}

static void fxt_lint_judge_complete(struct fxt_lint *l, struct fxt_lint_track *t,
				    const struct fxt_lint_fact *fact)
{
	const struct fxt_lint_slice *top;

	if (fact->b < fact->ts_ns || fact->b == OPEN)
		return;
	fxt_lint_slices_settle(l, t, fact->ts_ns);
	top = t->depth > 0 ? &t->stack[t->depth - 1] : NULL;
	if (top && top->end_ns < fact->b)
		fxt_lint_slices_find(l, FXT_FINDING_COMPLETE_OVERLAP, t, fact->place);
	else
		fxt_lint_slices_push(l, t, fact, fact->b);
}

static void fxt_lint_judge_end(struct fxt_lint *l, struct fxt_lint_track *t,
			       const struct fxt_lint_fact *fact)
{
	size_t i;

	fxt_lint_slices_settle(l, t, fact->ts_ns);
	i = t->depth;
	while (i > 0 && t->stack[i - 1].end_ns != OPEN)
		i--;
	if (i == 0) {
		if (!t->unknown)
			fxt_lint_slices_find(l, FXT_FINDING_DURATION_END_ALONE, t, fact->place);
		return;
	}
	if (fact->name != 0 && t->stack[i - 1].name != fact->name && !t->unknown)
		fxt_lint_slices_find(l, FXT_FINDING_DURATION_NAMES, t, fact->place);
	/* The durations above the closed one are complete, and end later than it. */
	for (size_t above = i; above < t->depth; above++)
		fxt_lint_slices_find(l, FXT_FINDING_COMPLETE_OVERLAP, t, t->stack[above].place);
	t->depth = i - 1;
}

/* Reports a flow event outside of any duration. */
static void fxt_lint_judge_flow(struct fxt_lint *l, struct fxt_lint_track *t,
				const struct fxt_lint_fact *fact)
{
	if (fact->ts_ns > 0)
		fxt_lint_slices_settle(l, t, fact->ts_ns - 1);
	if (t->depth == 0 && !t->unknown)
		fxt_lint_slices_find(l, FXT_FINDING_FLOW_NO_SLICE, t, fact->place);
}

void fxt_lint_slice_fact(struct fxt_lint *l, const struct fxt_lint_fact *fact)
{
	struct fxt_lint_track *t = fact->track;

	if (fact->ts_ns < t->last_ns) {
		l->n_not_judged++;
		t->unknown = true;
		return;
	}
	t->last_ns = fact->ts_ns;
	switch (fact->kind) {
	case FXT_LINT_BEGIN:
		fxt_lint_slices_settle(l, t, fact->ts_ns);
		fxt_lint_slices_push(l, t, fact, OPEN);
		break;
	case FXT_LINT_END:
		fxt_lint_judge_end(l, t, fact);
		break;
	case FXT_LINT_COMPLETE:
		fxt_lint_judge_complete(l, t, fact);
		break;
	default:
		fxt_lint_judge_flow(l, t, fact);
	}
}

void fxt_lint_slices_finish(struct fxt_lint *l)
{
	struct fxt_lint_track *t;

	for (size_t pos = 0; (t = table_next(&l->tracks, &pos));) {
		/* (a program's own durations can be open when its thread or the recording ends) */
		if (t->unknown || t->of_program)
			continue;
		fxt_lint_slices_settle(l, t, OPEN - 1);
		for (size_t i = 0; i < t->depth; i++)
			if (t->stack[i].end_ns == OPEN)
				fxt_lint_slices_find(l, FXT_FINDING_DURATION_OPEN, t,
						     t->stack[i].place);
	}
}
