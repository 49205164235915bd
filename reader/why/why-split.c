/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/why-split.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"

DEFINE_ORDER_OF_POINTERS(why_split_share_order, struct cpu_share,
			 COMPARE(y->ns, x->ns) ?: COMPARE(x->tid, y->tid))

void why_split_add(struct why_times *to, const struct why_times *from)
{
	to->total_ns += from->total_ns;
	to->running_ns += from->running_ns;
	to->interrupted_ns += from->interrupted_ns;
	to->reclaim_ns += from->reclaim_ns;
	to->runnable_ns += from->runnable_ns;
	to->woken_ns += from->woken_ns;
	to->throttled_ns += from->throttled_ns;
	to->idle_ns += from->idle_ns;
	to->stolen_ns += from->stolen_ns;
	for (size_t i = 0; i < WAIT_CAUSES; i++)
		to->blocked_ns[i] += from->blocked_ns[i];
	to->weak_ns += from->weak_ns;
	to->unknown_ns += from->unknown_ns;
	to->paused_ns += from->paused_ns;
	to->absent_ns += from->absent_ns;
}

uint64_t why_split_blocked(const struct why_times *t)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < WAIT_CAUSES; i++)
		ns += t->blocked_ns[i];
	return ns;
}

enum wait_cause why_split_main_cause(const struct why_times *t)
{
	enum wait_cause most = WAIT_UNKNOWN;

	for (enum wait_cause i = WAIT_UNKNOWN; i < WAIT_CAUSES; i++)
		if (t->blocked_ns[i] > t->blocked_ns[most])
			most = i;
	return most;
}

/* The computation of a split, segment by segment. */
struct why_split_state {
	const struct why_split *s;
	struct why_times *times;
	uint64_t longest_ns; /* of the parts of runnable_ns */
};

static int why_split_runnable(struct why_split_state *state, const struct thread_segment *segment)
{
	struct why_times *t = state->times;
	uint64_t ns = segment->to_ns - segment->from_ns;

	t->runnable_ns += ns;
	t->woken_ns += segment->preempted ? 0 : ns;
	t->throttled_ns += segment->throttled ? ns : 0;
	t->stolen_ns += history_interrupted_ns(state->s->history, segment->cpu, segment->from_ns,
					       segment->to_ns);
	t->many_cpus |= state->longest_ns > 0 && t->cpu != segment->cpu;
	if (ns > state->longest_ns) {
		state->longest_ns = ns;
		t->cpu = segment->cpu;
	}
	return cpu_use_add(state->s->use, state->s->history, segment->cpu, segment->from_ns,
			   segment->to_ns);
}

/* Adds SEGMENT, a wait cut to the interval. BEGIN_NS is the begin of the whole wait. */
static int why_split_wait(struct why_split_state *state, const struct thread_segment *segment,
			  uint64_t begin_ns)
{
	uint64_t ns = segment->to_ns - segment->from_ns;
	struct thread_segment whole = *segment;
	struct wait_verdict verdict;
	int r;

	whole.from_ns = begin_ns;
	r = why_waits_judge(state->s->waits, &whole, state->s->is_kernel_thread, &verdict);
	if (r < 0)
		return r;
	state->times->blocked_ns[verdict.cause] += ns;
	if (verdict.estimated ||
	    (verdict.cause != WAIT_UNKNOWN && verdict.evidence <= WAIT_BY_USER_STACK))
		state->times->weak_ns += ns;
	return 0;
}

static int why_split_segment(struct why_split_state *state, const struct thread_segment *segment,
			     uint64_t begin_ns)
{
	struct why_times *t = state->times;
	uint64_t ns = segment->to_ns - segment->from_ns;

	switch (segment->state) {
	case THREAD_RUNNING:
		t->running_ns += ns;
		t->interrupted_ns += history_interrupted_ns(state->s->history, segment->cpu,
							    segment->from_ns, segment->to_ns);
		if (state->s->waits->reclaims)
			t->reclaim_ns +=
				why_reclaims_overlap(state->s->waits->reclaims, segment->tid,
						     segment->from_ns, segment->to_ns);
		return 0;
	case THREAD_RUNNABLE:
		return why_split_runnable(state, segment);
	case THREAD_BLOCKED:
		return why_split_wait(state, segment, begin_ns);
	case THREAD_DEAD:
		t->absent_ns += ns;
		return 0;
	default:
		t->unknown_ns += ns;
		t->paused_ns += segment->end == THREAD_END_PAUSE ? ns : 0;
		return 0;
	}
}

int why_split_set_holders(struct why_times *t, const struct table *shares)
{
	size_t n = 0;
	_cleanup_free_ struct cpu_share **list =
		(struct cpu_share **)table_sorted(shares, why_split_share_order, &n);

	if (!list)
		return -ENOMEM;
	t->n_holders = 0;
	t->other_holders_ns = 0;
	for (size_t i = 0; i < n; i++) {
		if (i < WHY_HOLDERS)
			t->holders[t->n_holders++] = *list[i];
		else
			t->other_holders_ns += list[i]->ns;
	}
	return 0;
}

/* Adds NS before the first segment of a thread, or after its last one (FIRST = NULL). */
static void why_split_outside(struct why_times *t, const struct history_span *first, uint64_t ns)
{
	if (first && first->creator_tid != 0)
		t->absent_ns += ns;
	else
		t->unknown_ns += ns;
}

/*
 * Adds the segments of TID: first the segment that contains *AT_NS, then those after it. Moves
 * *AT_NS to the end of the last one.
 */
static int why_split_segments(struct why_split_state *state, uint32_t tid, uint64_t *at_ns,
			      uint64_t to_ns)
{
	const struct history *h = state->s->history;
	size_t pos = history_seek(h, tid, *at_ns);
	struct history_span span;
	int r = 0;

	while (*at_ns < to_ns && r == 0 && history_next(h, tid, &pos, &span) &&
	       span.segment.to_ns > *at_ns) {
		uint64_t begin_ns = span.segment.from_ns;

		span.segment.from_ns = *at_ns;
		*at_ns = span.segment.to_ns < to_ns ? span.segment.to_ns : to_ns;
		span.segment.to_ns = *at_ns;
		r = why_split_segment(state, &span.segment, begin_ns);
	}
	return r;
}

int why_split(const struct why_split *s, uint32_t tid, uint64_t from_ns, uint64_t to_ns,
	      struct why_times *ret)
{
	struct why_split_state state = { .s = s, .times = ret };
	struct history_span first = { 0 };
	uint64_t at_ns = from_ns;
	size_t pos = 0;
	bool any = history_next(s->history, tid, &pos, &first);
	int r;

	if (to_ns <= from_ns)
		return 0;
	cpu_use_clear(s->use);
	ret->total_ns = to_ns - from_ns;
	if (any && at_ns < first.segment.from_ns) {
		at_ns = first.segment.from_ns < to_ns ? first.segment.from_ns : to_ns;
		why_split_outside(ret, &first, at_ns - from_ns);
	}
	r = why_split_segments(&state, tid, &at_ns, to_ns);
	if (r < 0)
		return r;
	why_split_outside(ret, NULL, to_ns - at_ns);
	ret->idle_ns = s->use->idle_ns;
	return why_split_set_holders(ret, &s->use->shares);
}

int why_split_idle_cpu(const struct why_split *s, uint32_t tid, uint64_t from_ns, uint64_t to_ns,
		       uint32_t *ret_cpu, uint64_t *ret_ns)
{
	const struct history *h = s->history;
	_cleanup_free_ uint64_t *ns = calloc(history_n_cpus(h) + 1, sizeof(*ns));
	size_t pos = history_seek(h, tid, from_ns);
	struct history_span span;

	*ret_ns = 0;
	if (!ns)
		return -ENOMEM;
	while (history_next(h, tid, &pos, &span) && span.segment.from_ns < to_ns) {
		const struct thread_segment *g = &span.segment;

		if (g->state != THREAD_RUNNABLE || g->to_ns <= from_ns)
			continue;
		if (cpu_budget_is_used_up(s->use->budget))
			return 0;
		cpu_budget_spend(s->use->budget,
				 idle_time_add_each(h, g->cpu,
						    g->from_ns > from_ns ? g->from_ns : from_ns,
						    g->to_ns < to_ns ? g->to_ns : to_ns, ns));
	}
	for (uint32_t i = 0; i < history_n_cpus(h); i++) {
		if (ns[i] <= *ret_ns)
			continue;
		*ret_cpu = i;
		*ret_ns = ns[i];
	}
	return 0;
}
