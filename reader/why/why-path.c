/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/why-path.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/table.h"
#include "model/koids.h"

const char *const path_kind_keys[PATH_KINDS] = {
	[PATH_RUNNING] = "running",     [PATH_RUNNABLE] = "runnable",
	[PATH_TIMER] = "timer",         [PATH_DISK] = "disk",
	[PATH_NETWORK] = "network",     [PATH_DEVICE] = "device",
	[PATH_INTERRUPT] = "interrupt", [PATH_OPEN] = "open",
	[PATH_NO_WAKER] = "no_waker",   [PATH_FILTERED] = "filtered",
	[PATH_UNKNOWN] = "unknown",     [PATH_FORGOTTEN] = "forgotten",
	[PATH_TOO_DEEP] = "too_deep",   [PATH_PAUSED] = "paused",
	[PATH_MEMORY] = "memory",
};

/* A thread for which a part of the path is being computed, from the end of the part backwards. */
struct path_level {
	uint32_t tid;
	uint32_t via;     /* for the next step; 0 = none */
	uint64_t from_ns; /* the part begins here */
	uint64_t at_ns;   /* everything from here on is done */
	bool has_lock;    /* for the next step */
};

/* The computation of a path, from its end backwards: the steps are in reverse order. */
struct path_walk {
	const struct history *h;
	const struct path_sources *sources;
	struct path *path;
	struct path_level levels[WHY_PATH_DEPTH_MAX + 1];
	size_t n_levels;
	uint64_t short_ns;
	struct cpu_use use;
	struct table shares, held; /* owned, as are their values */
};

void path_deinit(struct path *p)
{
	free(p->steps);
	free(p->shares);
	free(p->held);
	*p = (struct path){ 0 };
}

/* ---- steps ---- */

/* Joins each short step with the step that follows it in time (the one before it in the array). */
static void path_join_short(struct path_walk *w)
{
	struct path *p = w->path;
	size_t n = 1;

	for (size_t i = 1; i < p->n_steps; i++) {
		const struct path_step *s = &p->steps[i];

		if (s->to_ns - s->from_ns < w->short_ns) {
			p->steps[n - 1].from_ns = s->from_ns;
			p->n_joined++;
		} else {
			p->steps[n++] = *s;
		}
	}
	p->n_steps = n;
}

/* True if LATER, the step that follows S in time, continues S. */
static bool path_is_continued(const struct path_step *s, const struct path_step *later)
{
	return s->tid == later->tid && s->kind == later->kind && s->cpu == later->cpu &&
	       s->wait_ns == later->wait_ns && s->depth == later->depth && s->via == 0 &&
	       s->holder == later->holder;
}

static int path_count_share(struct path_walk *w, const struct path_step *s)
{
	uint64_t key = ((uint64_t)s->tid << 8 | s->kind) + 1, ns = s->to_ns - s->from_ns;
	struct path_share *share;

	if (w->shares.n_used >= WHY_PATH_SHARES_MAX && !table_get(&w->shares, key)) {
		w->path->other_ns += ns;
		w->path->cut = true;
		return 0;
	}
	share = table_make(&w->shares, key, sizeof(*share));
	if (!share)
		return -ENOMEM;
	*share = (struct path_share){ s->tid, s->kind, share->ns + ns };
	return 0;
}

static int path_count_held(struct path_walk *w, const struct path_step *s)
{
	uint64_t key = (uint64_t)s->tid << 32 | s->holder;
	struct path_held *held;

	if (s->kind != PATH_RUNNABLE || s->holder == 0)
		return 0;
	if (w->held.n_used >= WHY_PATH_SHARES_MAX && !table_get(&w->held, key)) {
		w->path->cut = true;
		return 0;
	}
	held = table_make(&w->held, key, sizeof(*held));
	if (!held)
		return -ENOMEM;
	*held = (struct path_held){ s->tid, s->holder, held->ns + s->holder_ns };
	return 0;
}

/* Adds S, which ends where the earliest step so far begins. */
static int path_add(struct path_walk *w, const struct path_step *s)
{
	struct path *p = w->path;

	if (path_count_share(w, s) < 0 || path_count_held(w, s) < 0)
		return -ENOMEM;
	if (p->n_steps > 0 && path_is_continued(s, &p->steps[p->n_steps - 1])) {
		struct path_step *later = &p->steps[p->n_steps - 1];

		later->from_ns = s->from_ns;
		later->holder_ns += s->holder_ns;
		later->interrupted_ns += s->interrupted_ns;
		later->idle_ns += s->idle_ns;
		return 0;
	}
	if (p->n_steps == WHY_PATH_STEPS_MAX)
		path_join_short(w);
	if (GROW(p->steps, p->room_steps, p->n_steps + 1) < 0)
		return -ENOMEM;
	p->steps[p->n_steps++] = *s;
	return 0;
}

/* Adds S as the step of the innermost level from FROM_NS to where the computation is. */
static int path_step_to(struct path_walk *w, uint64_t from_ns, struct path_step s)
{
	struct path_level *level = &w->levels[w->n_levels - 1];

	s.from_ns = from_ns;
	s.to_ns = level->at_ns;
	s.tid = level->tid;
	s.via = level->via;
	s.has_lock = level->has_lock;
	s.depth = (uint32_t)(w->n_levels - 1);
	level->via = 0;
	level->has_lock = false;
	level->at_ns = from_ns;
	return path_add(w, &s);
}

/* ---- the levels ---- */

/*
 * From FROM_NS to where the computation is, the path follows TID: adds a level for it. If there is
 * no room for a level, this time becomes one step of the waiting thread.
 */
static int path_enter(struct path_walk *w, uint32_t tid, uint64_t from_ns, uint64_t wait_ns)
{
	struct path_level *level = &w->levels[w->n_levels - 1];
	uint64_t at_ns = level->at_ns;
	uint32_t via = level->tid;

	if (w->n_levels > WHY_PATH_DEPTH_MAX) {
		w->path->cut = true;
		return path_step_to(w, from_ns,
				    (struct path_step){ .kind = PATH_TOO_DEEP,
							.wait_ns = wait_ns });
	}
	level->at_ns = from_ns;
	w->levels[w->n_levels++] =
		(struct path_level){ .tid = tid, .via = via, .from_ns = from_ns, .at_ns = at_ns };
	return 0;
}

static bool path_ran(const struct history *h, uint32_t tid, uint64_t at_ns)
{
	struct history_span span;

	return history_find(h, tid, at_ns, &span) && span.segment.state == THREAD_RUNNING;
}

/* Finds the CPU for whose interrupts KOID stands. Returns false if KOID is not an interrupt. */
static bool path_is_interrupt(uint32_t koid, uint32_t *ret_cpu)
{
	if (koid - FXT_KOID_IRQ - 1 <= 0xffff)
		*ret_cpu = koid - FXT_KOID_IRQ - 1;
	else if (koid - FXT_KOID_SOFTIRQ - 1 <= 0xffff)
		*ret_cpu = koid - FXT_KOID_SOFTIRQ - 1;
	else
		return false;
	return true;
}

static enum path_kind path_kind_of_source(enum wait_source source)
{
	static const enum path_kind kinds[WAIT_SOURCES] = {
		[WAIT_SOURCE_UNKNOWN] = PATH_INTERRUPT, [WAIT_SOURCE_TIMER] = PATH_TIMER,
		[WAIT_SOURCE_DISK] = PATH_DISK,         [WAIT_SOURCE_NETWORK] = PATH_NETWORK,
		[WAIT_SOURCE_DEVICE] = PATH_DEVICE,     [WAIT_SOURCE_MEMORY] = PATH_MEMORY,
	};

	return kinds[source];
}

/*
 * The kind of a step for the interrupt that ended the wait of SEGMENT. *CPU is the interrupt's CPU;
 * NULL = unknown, for example if the idle thread did the work of another CPU.
 */
static enum path_kind path_find_source(const struct path_walk *w,
				       const struct thread_segment *segment, const uint32_t *cpu)
{
	const struct path_sources *s = w->sources;
	enum wait_source source = s && s->find ? s->find(s->userdata, segment->tid, segment->to_ns)
					       : WAIT_SOURCE_UNKNOWN;
	struct history_interrupt interrupt;

	if (source == WAIT_SOURCE_UNKNOWN && cpu &&
	    history_find_interrupt(w->h, *cpu, segment->to_ns, &interrupt) > 0)
		source = wait_source_of(NULL, 0, interrupt.name);
	return path_kind_of_source(source);
}

/* The owner of the lock for which the thread of SEGMENT waited; 0 = unknown, or already on the
 * way. */
static uint32_t path_find_owner(const struct path_walk *w, const struct thread_segment *segment)
{
	const struct path_sources *s = w->sources;
	uint32_t owner = s && s->owner ? s->owner(s->userdata, segment->tid, segment->from_ns) : 0;

	for (size_t i = 0; i < w->n_levels; i++)
		if (w->levels[i].tid == owner)
			return 0;
	return owner;
}

/* The role of KOID, a thread that has woken another one. */
static enum why_role path_role(const struct path_walk *w, uint32_t koid)
{
	const struct path_sources *s = w->sources;

	if (s && s->role)
		return s->role(s->userdata, koid);
	return fxt_koid_is_other(koid) ? WHY_ROLE_OTHER : WHY_ROLE_TASK;
}

/* Sets the kind of LEAF if no thread caused the end of the wait. Returns false if SEGMENT's waker
 * is a thread that did. */
static bool path_end_wait(const struct path_walk *w, const struct thread_segment *segment,
			  struct path_step *leaf)
{
	struct history_span span;

	if (segment->waker_tid == 0) {
		leaf->kind = path_find_source(w, segment, NULL);
		return true;
	}
	if (path_is_interrupt(segment->waker_tid, &leaf->cpu)) {
		leaf->kind = path_find_source(w, segment, &leaf->cpu);
		return true;
	}
	switch (path_role(w, segment->waker_tid)) {
	case WHY_ROLE_TASK:
		return false;
	case WHY_ROLE_SOFTIRQS:
		/* The waker served an interrupt for another thread: look for the interrupt's
		 * source. */
		if (history_find(w->h, segment->waker_tid, segment->to_ns, &span))
			leaf->cpu = span.segment.cpu;
		leaf->kind = path_find_source(w, segment, &leaf->cpu);
		return true;
	case WHY_ROLE_INTERRUPT:
		leaf->kind = path_find_source(w, segment, NULL);
		return true;
	case WHY_ROLE_OTHER:
		leaf->kind = PATH_FILTERED;
		return true;
	default:
		return true;
	}
}

/*
 * Adds the part from BEGIN_NS on of a wait that a thread which serves softirqs has ended. That
 * thread has not caused the wait, but while it was ready, the wait depended on it, and the path
 * follows it. LEAF is the step for the rest.
 */
static int path_softirqs(struct path_walk *w, const struct thread_segment *segment,
			 uint64_t begin_ns, struct path_step leaf)
{
	uint64_t at_ns = w->levels[w->n_levels - 1].at_ns, end_ns = segment->to_ns, from_ns;
	struct history_span span;

	for (int i = 0; i < WHY_PATH_SOFTIRQ_PARTS && end_ns > begin_ns; i++) {
		if (!history_find(w->h, segment->waker_tid, end_ns, &span) ||
		    (span.segment.state != THREAD_RUNNING && span.segment.state != THREAD_RUNNABLE))
			break;
		from_ns = span.segment.from_ns > begin_ns ? span.segment.from_ns : begin_ns;
		if (span.segment.state == THREAD_RUNNABLE && from_ns < at_ns) {
			if (span.segment.to_ns < at_ns)
				return path_step_to(w, span.segment.to_ns, leaf);
			return path_enter(w, segment->waker_tid, from_ns, segment->from_ns);
		}
		end_ns = from_ns;
	}
	return path_step_to(w, begin_ns, leaf);
}

/* Adds the part from BEGIN_NS on of a wait whose waker is unknown: follows the owner of the lock,
 * or adds LEAF if there is none to follow. */
static int path_lock(struct path_walk *w, const struct thread_segment *segment, uint64_t begin_ns,
		     struct path_step leaf)
{
	uint32_t owner = path_find_owner(w, segment);
	int r;

	if (owner == 0)
		return path_step_to(w, begin_ns, leaf);
	r = path_enter(w, owner, begin_ns, segment->from_ns);
	w->levels[w->n_levels - 1].has_lock = w->levels[w->n_levels - 1].tid == owner;
	return r;
}

/* Adds the part of the wait of SEGMENT from BEGIN_NS on. */
static int path_wait(struct path_walk *w, const struct thread_segment *segment, uint64_t begin_ns)
{
	struct path_step leaf = { .kind = PATH_NO_WAKER,
				  .wait_ns = segment->from_ns,
				  .cpu = segment->cpu };
	uint32_t waker = segment->waker_tid;

	if (segment->end == THREAD_END_OPEN) {
		leaf.kind = PATH_OPEN;
	} else if (segment->end == THREAD_END_EVENT && segment->woken) {
		bool is_leaf = path_end_wait(w, segment, &leaf);

		if (is_leaf && waker != 0 && path_role(w, waker) == WHY_ROLE_SOFTIRQS)
			return path_softirqs(w, segment, begin_ns, leaf);
		if (!is_leaf && waker != segment->tid && path_ran(w->h, waker, segment->to_ns))
			return path_enter(w, waker, begin_ns, segment->from_ns);
	}
	if (leaf.kind == PATH_OPEN || leaf.kind == PATH_NO_WAKER || leaf.kind == PATH_FILTERED)
		return path_lock(w, segment, begin_ns, leaf);
	return path_step_to(w, begin_ns, leaf);
}

/* Adds the part of SEGMENT from BEGIN_NS on, in which the thread ran or was ready. */
static int path_ready(struct path_walk *w, const struct thread_segment *segment, uint64_t begin_ns)
{
	const struct path_level *level = &w->levels[w->n_levels - 1];
	struct path_step s = {
		.kind = segment->state == THREAD_RUNNING ? PATH_RUNNING : PATH_RUNNABLE,
		.cpu = segment->cpu,
		.interrupted_ns =
			history_interrupted_ns(w->h, segment->cpu, begin_ns, level->at_ns),
	};
	const struct cpu_share *holder;

	if (s.kind == PATH_RUNNABLE) {
		cpu_use_clear(&w->use);
		if (cpu_use_add(&w->use, w->h, s.cpu, begin_ns, level->at_ns) < 0)
			return -ENOMEM;
		holder = cpu_use_largest(&w->use);
		s.holder = holder ? holder->tid : 0;
		s.holder_ns = holder ? holder->ns : 0;
		s.idle_ns = w->use.idle_ns;
	}
	return path_step_to(w, begin_ns, s);
}

/* Adds a step, or follows the creator, where no segment of the thread contains the moment
 * before. */
static int path_without_segment(struct path_walk *w)
{
	const struct path_level *level = &w->levels[w->n_levels - 1];
	uint64_t end_ns = history_end_ns(w->h, level->tid);
	struct path_step s = { .kind = PATH_UNKNOWN };
	struct history_span first;
	size_t pos = 0;

	if (end_ns != 0 && end_ns < level->at_ns)
		return path_step_to(w, end_ns > level->from_ns ? end_ns : level->from_ns, s);
	if (level->at_ns <= history_begin_ns(w->h)) {
		s.kind = PATH_FORGOTTEN;
		w->path->cut = true;
	} else if (history_next(w->h, level->tid, &pos, &first) && first.creator_tid != 0) {
		return path_enter(w, first.creator_tid, level->from_ns, 0);
	}
	return path_step_to(w, level->from_ns, s);
}

/* One step, or one level more. */
static int path_advance(struct path_walk *w)
{
	const struct path_level *level = &w->levels[w->n_levels - 1];
	struct history_span span;
	uint64_t begin_ns;

	if (!history_find(w->h, level->tid, level->at_ns, &span))
		return path_without_segment(w);
	begin_ns = span.segment.from_ns > level->from_ns ? span.segment.from_ns : level->from_ns;
	switch (span.segment.state) {
	case THREAD_RUNNING:
	case THREAD_RUNNABLE:
		return path_ready(w, &span.segment, begin_ns);
	case THREAD_BLOCKED:
		return path_wait(w, &span.segment, begin_ns);
	default:
		return path_step_to(w, begin_ns,
				    (struct path_step){ .kind = span.segment.end == THREAD_END_PAUSE
									? PATH_PAUSED
									: PATH_UNKNOWN });
	}
}

/* A limit was reached: the whole rest becomes one step of the first thread. */
static int path_give_up(struct path_walk *w)
{
	w->levels[0].at_ns = w->levels[w->n_levels - 1].at_ns;
	w->n_levels = 1;
	w->path->cut = true;
	return path_step_to(w, w->levels[0].from_ns, (struct path_step){ .kind = PATH_FORGOTTEN });
}

/* Counts a visited segment. Returns false if the limit of this path, or of all paths, is
 * reached. */
static bool path_may_visit(struct path_walk *w)
{
	struct cpu_budget *all = w->sources ? w->sources->visits : NULL;

	if (++w->path->n_visits > WHY_PATH_VISITS_MAX || cpu_budget_is_used_up(all))
		return false;
	cpu_budget_spend(all, 1);
	return true;
}

static int path_run(struct path_walk *w)
{
	int r = 0;

	while (r == 0 && w->n_levels > 0) {
		if (w->levels[w->n_levels - 1].at_ns <= w->levels[w->n_levels - 1].from_ns)
			w->n_levels--;
		else
			r = path_may_visit(w) ? path_advance(w) : path_give_up(w);
	}
	return r;
}

DEFINE_ORDER(path_share_order, struct path_share,
	     COMPARE(y->ns, x->ns) ?: COMPARE(x->tid, y->tid) ?: COMPARE(x->kind, y->kind))
DEFINE_ORDER(path_held_order, struct path_held,
	     COMPARE(y->ns, x->ns) ?: COMPARE(x->tid, y->tid) ?: COMPARE(x->holder, y->holder))

/* Moves the sums from the tables of the walk to the path. */
static int path_sum(struct path_walk *w)
{
	struct path *p = w->path;
	const struct path_share *share;
	const struct path_held *held;

	p->shares = calloc(w->shares.n_used + 1, sizeof(*p->shares));
	p->held = calloc(w->held.n_used + 1, sizeof(*p->held));
	if (!p->shares || !p->held)
		return -ENOMEM;
	for (size_t pos = 0; (share = table_next(&w->shares, &pos));)
		p->shares[p->n_shares++] = *share;
	for (size_t pos = 0; (held = table_next(&w->held, &pos));)
		p->held[p->n_held++] = *held;
	SORT(p->shares, p->n_shares, path_share_order);
	SORT(p->held, p->n_held, path_held_order);
	return 0;
}

int path_compute(const struct history *h, const struct path_sources *sources, uint32_t tid,
		 uint64_t from_ns, uint64_t to_ns, struct path *ret)
{
	struct path_walk w = {
		.h = h,
		.sources = sources,
		.path = ret,
		.levels = { { .tid = tid, .from_ns = from_ns, .at_ns = to_ns } },
		.n_levels = 1,
		.use = { .idle = sources ? sources->idle : NULL,
			 .budget = sources ? sources->budget : NULL },
		.short_ns = to_ns > from_ns ? (to_ns - from_ns) / 1000 : 0,
	};
	int r = path_run(&w) ?: path_sum(&w);

	cpu_use_deinit(&w.use);
	table_deinit_free(&w.shares);
	table_deinit_free(&w.held);
	for (size_t i = 0; i < ret->n_steps / 2; i++) {
		struct path_step swap = ret->steps[i];

		ret->steps[i] = ret->steps[ret->n_steps - 1 - i];
		ret->steps[ret->n_steps - 1 - i] = swap;
	}
	return r;
}
