/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the instances of why.h (times off CPU of a thread, the window, calls, and times between
 * marks), and the waits that are open at the end.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "reader/why/why-state.h"
#include "reader/why/why-threads.h"

/*
 * True if a wait is, or can be, a wait for work: a wait without a cause, and a wait for another
 * program that has not ended, or that began before the recording.
 */
static bool why_instances_is_idle(const struct why *w, const struct thread_segment *segment,
				  const struct wait_verdict *v)
{
	const struct why_wait *wait = why_find_wait(w, segment->tid, segment->from_ns);
	bool whole = segment->end == THREAD_END_OPEN || (wait && wait->earlier);

	switch (v->cause) {
	case WAIT_UNKNOWN:
		return true;
	case WAIT_JOIN:
	case WAIT_PIPE:
	case WAIT_LOCAL:
	case WAIT_SOCKET:
		return whole;
	default:
		return wait_cause_rows[v->cause].flags & WAIT_IS_IDLE;
	}
}

/* ---- the longest ones ---- */

uint64_t why_instances_busy_ns(const struct why_times *t)
{
	uint64_t ns = t->running_ns + t->runnable_ns;

	for (enum wait_cause i = WAIT_UNKNOWN + 1; i < WAIT_CAUSES; i++)
		if (!(wait_cause_rows[i].flags & WAIT_IS_IDLE))
			ns += t->blocked_ns[i];
	return ns;
}

/*
 * True if A belongs before B: first deadlocks, then waits for anything but work, then longer ones.
 * Of equally long ones, the one whose thread was busier comes first.
 */
static bool why_instances_is_worse(const struct why_instance *a, const struct why_instance *b)
{
	uint64_t ns = a->to_ns - a->from_ns, than_ns = b->to_ns - b->from_ns;

	if (a->deadlocked != b->deadlocked)
		return a->deadlocked;
	if (a->for_work != b->for_work)
		return b->for_work;
	return ns != than_ns ? ns > than_ns
			     : why_instances_busy_ns(&a->times) > why_instances_busy_ns(&b->times);
}

/* Counts I, and keeps I if few enough instances are worse. Returns 0 or -ENOMEM. */
static int why_instances_keep(struct why *w, const struct why_instance *i)
{
	const struct why_options *o = &w->state->options;
	uint64_t ns = i->to_ns - i->from_ns;
	size_t at = w->n_worst;

	w->n_instances++;
	w->instances_ns += ns;
	w->n_short += ns < o->min_ns;
	w->n_partial += i->partial;
	if (!i->partial && latency_add(&w->durations, ns) < 0)
		return -ENOMEM;
	if (ns < o->min_ns || ns == 0)
		return 0;
	while (at > 0 && why_instances_is_worse(i, &w->worst[at - 1]))
		at--;
	if (at >= o->n_worst)
		return 0;
	w->n_worst += w->n_worst < o->n_worst;
	memmove(&w->worst[at + 1], &w->worst[at], (w->n_worst - 1 - at) * sizeof(*w->worst));
	w->worst[at] = *i;
	return 0;
}

/* Adds I to the sums of T. */
static void why_instances_count(struct why_thread *t, const struct why_instance *i)
{
	uint64_t ns = i->to_ns - i->from_ns;

	t->n_waits++;
	t->waits_ns += ns;
	if (ns > t->longest_ns)
		t->longest_ns = ns;
}

/* ---- times off CPU ---- */

/* The walk over the segments of a thread. */
struct why_walk {
	struct why *w;
	struct why_thread *thread;
	struct why_instance now; /* tid 0 = none */
	bool only_work;          /* all waits of `now` are for work, and no thread has ended one */
	bool is_kernel_thread;
};

/* Counts the wait that ends. It becomes an instance, unless the instances are windows. */
static int why_instances_close(struct why_walk *walk)
{
	struct why_instance now = walk->now;

	walk->now = (struct why_instance){ 0 };
	if (now.to_ns == now.from_ns)
		return 0;
	why_instances_count(walk->thread, &now);
	if (walk->w->state->options.what != WHY_INSTANCE_WAIT)
		return 0;
	now.what = WHY_INSTANCE_WAIT;
	now.for_work = walk->only_work && walk->w->state->many_threads;
	now.deadlocked = now.open && why_instances_deadlock(walk->w, now.tid) > 0;
	return why_instances_keep(walk->w, &now);
}

/* Extends the current instance to the end of SEGMENT, or begins one with SEGMENT. */
static void why_instances_extend(struct why_walk *walk, const struct thread_segment *segment)
{
	const struct why *w = walk->w;
	struct why_instance *now = &walk->now;

	if (now->tid == 0)
		now->from_ns = segment->from_ns > w->from_ns ? segment->from_ns : w->from_ns;
	now->tid = segment->tid;
	now->to_ns = segment->to_ns < w->to_ns ? segment->to_ns : w->to_ns;
	now->open = segment->end == THREAD_END_OPEN;
	now->partial |= segment->from_ns < w->from_ns || segment->to_ns > w->to_ns ||
			segment->end != THREAD_END_EVENT;
}

/* True if a thread (not an interrupt) has ended the wait of SEGMENT. */
static bool why_instances_was_woken(const struct why *w, const struct thread_segment *segment)
{
	return segment->woken &&
	       why_thread_role(w->state->summary, segment->waker_tid) == WHY_ROLE_TASK;
}

static int why_instances_walk_segment(struct why_walk *walk, const struct thread_segment *segment)
{
	struct why_state *s = walk->w->state;
	struct wait_verdict verdict;
	bool is_idle;
	int r;

	if (segment->state == THREAD_RUNNABLE) {
		/* A thread that is ready has work, so its wait for work ends here. */
		r = walk->only_work && s->many_threads ? why_instances_close(walk) : 0;
		walk->only_work = false;
		why_instances_extend(walk, segment);
		return r;
	}
	if (segment->state != THREAD_BLOCKED)
		return why_instances_close(walk);
	r = why_waits_judge(&s->waits, segment, walk->is_kernel_thread, &verdict);
	walk->thread->waits = segment->to_ns >= walk->w->to_ns;
	is_idle = r == 0 && why_instances_is_idle(walk->w, segment, &verdict);
	if (is_idle && !s->options.with_idle)
		return why_instances_close(walk);
	walk->only_work = (walk->now.tid == 0 || walk->only_work) && is_idle &&
			  !why_instances_was_woken(walk->w, segment);
	why_instances_extend(walk, segment);
	return r;
}

static int why_instances_find_waits(struct why *w, struct why_thread *t)
{
	struct why_walk walk = {
		.w = w,
		.thread = t,
		.is_kernel_thread = why_thread_is_kernel(w->state->summary, t->tid),
	};
	struct history_span span;
	int r = 0;

	for (size_t pos = 0; r == 0 && history_next(w->state->history, t->tid, &pos, &span);)
		if (span.segment.to_ns > w->from_ns && span.segment.from_ns < w->to_ns)
			r = why_instances_walk_segment(&walk, &span.segment);
	return r ?: why_instances_close(&walk);
}

/* ---- the window, calls, marks ---- */

static int why_instances_find_window(struct why *w, struct why_thread *t)
{
	struct why_instance window = {
		.what = WHY_INSTANCE_WINDOW,
		.tid = t->tid,
		.from_ns = w->from_ns,
		.to_ns = w->to_ns,
		.times = t->times,
	};

	return why_instances_find_waits(w, t)
		       ?: w->from_ns == w->to_ns ? 0
						 : why_instances_keep(w, &window);
}

/* Adds SPAN, cut to the window, to the instances of T. */
static int why_instances_add_span(struct why *w, struct why_thread *t, const struct why_span *span)
{
	struct why_state *s = w->state;
	struct why_instance i = {
		.what = s->options.what,
		.tid = t->tid,
		.from_ns = span->from_ns > w->from_ns ? span->from_ns : w->from_ns,
		.to_ns = span->to_ns < w->to_ns ? span->to_ns : w->to_ns,
		.open = span->open && span->to_ns <= w->to_ns,
		.partial = span->partial || span->from_ns < w->from_ns || span->to_ns > w->to_ns,
		.name = span->name,
	};
	int r;

	if (s->n_splits == (s->options.max_splits ?: WHY_SPLITS_MAX)) {
		w->n_spans_dropped++;
		return 0;
	}
	s->n_splits++;
	r = why_split_thread(w, t->tid, i.from_ns, i.to_ns, &i.times);
	/* (marks name no thread: skip threads that had nothing to do between the marks) */
	if (r == 0 && span->tid == 0 &&
	    (i.times.absent_ns == i.times.total_ns ||
	     (!s->options.with_idle && why_instances_busy_ns(&i.times) == 0)))
		return 0;
	why_split_add(&t->times, &i.times);
	why_instances_count(t, &i);
	return r ?: why_add_holders(s, &s->thread_holders) ?: why_instances_keep(w, &i);
}

static int why_instances_find_spans(struct why *w, struct why_thread *t)
{
	const struct why_spans *spans = &w->state->spans;
	bool of_all = w->state->options.what == WHY_INSTANCE_BETWEEN;
	struct history_span last;
	int r = 0;

	for (size_t i = of_all ? 0 : why_spans_first(spans, t->tid); i < spans->n && r == 0; i++) {
		const struct why_span *span = &spans->list[i];

		if (!of_all && span->tid != t->tid)
			break;
		if (span->from_ns < w->to_ns &&
		    (span->to_ns > w->from_ns || span->from_ns >= w->from_ns))
			r = why_instances_add_span(w, t, span);
	}
	t->waits = history_find(w->state->history, t->tid, w->to_ns, &last) &&
		   last.segment.state == THREAD_BLOCKED;
	return r;
}

int why_instances_find(struct why *w, struct why_thread *t)
{
	switch (w->state->options.what) {
	case WHY_INSTANCE_WAIT:
		return why_instances_find_waits(w, t);
	case WHY_INSTANCE_WINDOW:
		return why_instances_find_window(w, t);
	default:
		return why_instances_find_spans(w, t);
	}
}

/* Notes SEGMENT as the longest wait of I. */
static void why_instances_note_wait(const struct why *w, const struct thread_segment *segment,
				    struct why_instance *i)
{
	i->wait_ns = segment->from_ns;
	i->wait_open = segment->end == THREAD_END_OPEN;
	i->waker = why_instances_was_woken(w, segment) ? segment->waker_tid : 0;
}

int why_instances_find_wait(struct why *w, struct why_instance *i)
{
	struct why_state *s = w->state;
	size_t pos = history_seek(s->history, i->tid, i->from_ns);
	bool is_kernel_thread = why_thread_is_kernel(s->summary, i->tid);
	uint64_t longest_ns = 0;
	struct history_span span;

	while (history_next(s->history, i->tid, &pos, &span) && span.segment.from_ns < i->to_ns) {
		const struct thread_segment *g = &span.segment;
		uint64_t from_ns = g->from_ns > i->from_ns ? g->from_ns : i->from_ns;
		uint64_t to_ns = g->to_ns < i->to_ns ? g->to_ns : i->to_ns;

		if (g->state != THREAD_BLOCKED || to_ns <= from_ns || to_ns - from_ns <= longest_ns)
			continue;
		longest_ns = to_ns - from_ns;
		why_instances_note_wait(w, g, i);
		if (why_waits_judge(&s->waits, g, is_kernel_thread, &i->verdict_of_wait) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* ---- open waits ---- */

/* The maximum number of threads in a deadlock; longer circles are not found. */
enum { WHY_DEADLOCK_MAX = 64 };

DEFINE_ORDER(why_instances_open_order, struct why_open_wait,
	     COMPARE(y->n_deadlocked > 0, x->n_deadlocked > 0)
		     ?: COMPARE(y->ns, x->ns)
		     ?: COMPARE(x->tid, y->tid))

/* Finds the segment of the wait of TID that is open at the end of the window. False = none. */
static bool why_instances_open_segment(struct why *w, uint32_t tid, struct thread_segment *ret)
{
	const struct history *h = w->state->history;
	uint64_t end_ns = history_end_ns(h, tid);
	const struct why_wait *wait;
	struct history_span span;

	end_ns = end_ns < w->to_ns ? end_ns : w->to_ns;
	if (!history_find(h, tid, end_ns, &span))
		return false;
	/* (if the recording ends in a pause or a loss, the wait is before it) */
	if (span.segment.state == THREAD_UNKNOWN &&
	    !history_find(h, tid, span.segment.from_ns, &span))
		return false;
	*ret = span.segment;
	if (ret->state != THREAD_BLOCKED || ret->to_ns >= w->to_ns)
		return ret->state == THREAD_BLOCKED;
	wait = why_find_wait(w, tid, ret->from_ns);
	return wait && wait->open;
}

uint32_t why_instances_open_owner(struct why *w, uint32_t tid)
{
	struct thread_segment segment;
	const struct why_wait *wait;

	if (tid == 0 || !why_instances_open_segment(w, tid, &segment))
		return 0;
	wait = why_find_wait(w, tid, segment.from_ns);
	return wait && wait->open && wait->to_ns <= w->to_ns ? wait->owner_tid : 0;
}

unsigned why_instances_deadlock(struct why *w, uint32_t tid)
{
	uint32_t owner = tid;

	for (unsigned n = 1; n <= WHY_DEADLOCK_MAX; n++) {
		owner = why_instances_open_owner(w, owner);
		if (owner == 0)
			return 0;
		if (owner == tid)
			return n;
	}
	return 0;
}

int why_instances_find_open(struct why *w, const struct why_thread *t)
{
	struct why_state *s = w->state;
	struct thread_segment segment;
	struct why_open_wait open;
	const struct why_wait *wait;
	uint64_t to_ns;

	if (!why_instances_open_segment(w, t->tid, &segment))
		return 0;
	to_ns = segment.to_ns < w->to_ns ? segment.to_ns : w->to_ns;
	wait = why_find_wait(w, t->tid, segment.from_ns);
	open = (struct why_open_wait){
		.tid = t->tid,
		.from_ns = segment.from_ns,
		.ns = to_ns - segment.from_ns,
		.earlier = wait && wait->earlier,
		.n_deadlocked = why_instances_deadlock(w, t->tid),
	};
	if (why_waits_judge(&s->waits, &segment, why_thread_is_kernel(s->summary, t->tid),
			    &open.verdict) < 0)
		return -ENOMEM;
	if (!s->options.with_idle && why_instances_is_idle(w, &segment, &open.verdict))
		return 0;
	w->n_open_waits_all++;
	if (GROW(w->open_waits, s->room_open_waits, w->n_open_waits + 1) < 0)
		return -ENOMEM;
	w->open_waits[w->n_open_waits++] = open;
	return 0;
}

void why_instances_finish(struct why *w)
{
	SORT(w->open_waits, w->n_open_waits, why_instances_open_order);
	if (w->n_open_waits > WHY_OPEN_WAITS_MAX)
		w->n_open_waits = WHY_OPEN_WAITS_MAX;
}
