/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/event.h"
#include "model/koids.h"
#include "reader/why/history-state.h"

/* Each thread counts as this number of segments, for its memory apart from segments. */
enum { HISTORY_THREAD_COST = 8 };

static const char history_letters[] = "\0RSDTtXZPI";

/* Interrupts do not nest deeper. In damaged archives, deeper ones are not found. */
enum { HISTORY_NESTED_MAX = 16 };

int history_new(struct history **ret, const struct history_limits *limits)
{
	struct history *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	if (limits)
		h->limits = *limits;
	h->limits.segments = h->limits.segments ?: HISTORY_SEGMENTS_MAX;
	h->limits.slices = h->limits.slices ?: HISTORY_SLICES_MAX;
	h->limits.interrupts = h->limits.interrupts ?: HISTORY_INTERRUPTS_MAX;
	*ret = h;
	return 0;
}

static void history_free_thread(struct history_thread *t)
{
	free(t->pieces);
	free(t);
}

struct history *history_free(struct history *h)
{
	struct history_thread *t;

	if (!h)
		return NULL;
	for (size_t pos = 0; (t = table_next(&h->threads, &pos));)
		history_free_thread(t);
	table_deinit(&h->threads);
	for (size_t i = 0; i < h->n_cpus; i++) {
		if (!h->cpus[i])
			continue;
		free(h->cpus[i]->turns);
		free(h->cpus[i]->handlers);
		free(h->cpus[i]);
	}
	free(h->cpus);
	free(h->open);
	free(h->tids);
	text_set_deinit(&h->texts);
	return free_ptr(h);
}

/* ---- segments ---- */

static struct history_thread *history_get_thread(struct history *h, uint32_t tid)
{
	struct history_thread *t = table_get(&h->threads, tid);

	if (t || GROW(h->tids, h->room_tids, h->n_tids + 1) < 0)
		return t;
	t = table_make(&h->threads, tid, sizeof(*t));
	if (!t)
		return NULL;
	t->tid = tid;
	h->unsorted |= h->n_tids > 0 && h->tids[h->n_tids - 1] > tid;
	h->tids[h->n_tids++] = tid;
	h->n_pieces += HISTORY_THREAD_COST;
	return t;
}

static unsigned history_letter_index(char letter)
{
	for (unsigned i = 1; i < sizeof(history_letters) - 1; i++)
		if (history_letters[i] == letter)
			return i;
	return 0;
}

static struct history_piece history_pack(const struct thread_segment *s, uint64_t from_ns)
{
	return (struct history_piece){
		.from_ns = from_ns,
		.waker_tid = s->waker_tid,
		.cpu = (uint16_t)s->cpu,
		.state = s->state,
		.end = s->end,
		.letter = history_letter_index(s->letter) & 15,
		.throttled = s->throttled,
		.preempted = s->preempted,
		.continued = s->continued,
		.woken = s->woken,
	};
}

int history_add_segment(void *userdata, const struct thread_segment *segment)
{
	struct history *h = userdata;
	struct history_thread *t;
	uint64_t from_ns = segment->from_ns;

	if (segment->tid == 0 || segment->cpu > HISTORY_CPU_MAX)
		return 0;
	if (h->n_pieces + HISTORY_THREAD_COST + 2 > h->limits.segments)
		return -ENOBUFS;
	t = history_get_thread(h, segment->tid);
	if (!t)
		return -ENOMEM;
	/* The segments of a thread must be in order; those of a damaged archive can overlap. */
	if (t->n > 0 && from_ns < t->to_ns)
		from_ns = t->to_ns;
	if (from_ns >= segment->to_ns)
		return 0;
	if (GROW(t->pieces, t->room, t->n + 2) < 0)
		return -ENOMEM;
	if (t->n > 0 && from_ns > t->to_ns) {
		t->pieces[t->n++] = (struct history_piece){ .from_ns = t->to_ns };
		h->n_pieces++;
	}
	t->pieces[t->n++] = history_pack(segment, from_ns);
	t->to_ns = segment->to_ns;
	h->n_pieces++;
	return 0;
}

static struct history_span history_unpack(const struct history_thread *t, size_t i)
{
	const struct history_piece *p = &t->pieces[i];

	return (struct history_span){
		.segment = {
			.tid = t->tid,
			.state = p->state,
			.end = p->end,
			.from_ns = p->from_ns,
			.to_ns = i + 1 < t->n ? p[1].from_ns : t->to_ns,
			.cpu = p->cpu,
			.letter = history_letters[p->letter],
			.throttled = p->throttled,
			.preempted = p->preempted,
			.continued = p->continued,
			.waker_tid = p->waker_tid,
			.woken = p->woken,
		},
		.creator_tid = i == 0 && !t->forgotten ? t->creator_tid : 0,
	};
}

bool history_find(const struct history *h, uint32_t tid, uint64_t at_ns, struct history_span *ret)
{
	const struct history_thread *t = tid != 0 ? table_get(&h->threads, tid) : NULL;
	size_t i;

	if (!t || t->n == 0 || at_ns <= t->pieces[0].from_ns || at_ns > t->to_ns)
		return false;
	i = ARRAY_FIRST(k, 0, t->n, t->pieces[k].from_ns >= at_ns);
	*ret = history_unpack(t, i - 1);
	return true;
}

bool history_next(const struct history *h, uint32_t tid, size_t *pos, struct history_span *ret)
{
	const struct history_thread *t = tid != 0 ? table_get(&h->threads, tid) : NULL;

	if (!t || *pos >= t->n)
		return false;
	*ret = history_unpack(t, (*pos)++);
	return true;
}

size_t history_seek(const struct history *h, uint32_t tid, uint64_t at_ns)
{
	const struct history_thread *t = tid != 0 ? table_get(&h->threads, tid) : NULL;
	size_t i = t ? ARRAY_FIRST(k, 0, t->n, t->pieces[k].from_ns > at_ns) : 0;

	return i > 0 ? i - 1 : 0;
}

uint64_t history_end_ns(const struct history *h, uint32_t tid)
{
	const struct history_thread *t = tid != 0 ? table_get(&h->threads, tid) : NULL;

	return t && t->n > 0 ? t->to_ns : 0;
}

DEFINE_ORDER(history_tid_order, uint32_t, COMPARE(*x, *y))

const uint32_t *history_threads(const struct history *h, size_t *ret_n)
{
	if (h->unsorted)
		SORT(h->tids, h->n_tids, history_tid_order);
	((struct history *)h)->unsorted = false;
	*ret_n = h->n_tids;
	return h->tids;
}

/* ---- CPUs ---- */

static struct history_cpu *history_get_cpu(struct history *h, uint32_t cpu)
{
	if (GROW_ZERO(h->cpus, h->n_cpus, (size_t)cpu + 1) < 0)
		return NULL;
	if (!h->cpus[cpu])
		h->cpus[cpu] = calloc(1, sizeof(*h->cpus[cpu]));
	return h->cpus[cpu];
}

static const struct history_cpu *history_cpu_of(const struct history *h, uint32_t cpu)
{
	return cpu < h->n_cpus ? h->cpus[cpu] : NULL;
}

/* Adds TURN to C. If its time is not after the begin of the last slice, it replaces that slice's
 * thread. */
static int history_add_turn(struct history *h, struct history_cpu *c, struct history_turn turn)
{
	struct history_turn *last = c->n > 0 ? &c->turns[c->n - 1] : NULL;

	if (last && turn.from_ns <= last->from_ns) {
		last->tid = turn.tid;
		last->known = turn.known;
		return 0;
	}
	if (last && last->tid == turn.tid && last->known == turn.known)
		return 0;
	if (h->n_turns >= h->limits.slices)
		return -ENOBUFS;
	if (GROW(c->turns, c->room, c->n + 1) < 0)
		return -ENOMEM;
	c->turns[c->n++] = turn;
	h->n_turns++;
	return 0;
}

/* Notes that C, the CPU with number CPU, has a known slice, which the next loss must end. */
static int history_open_cpu(struct history *h, struct history_cpu *c, uint32_t cpu)
{
	if (c->open)
		return 0;
	if (GROW(h->open, h->room_open, h->n_open + 1) < 0)
		return -ENOMEM;
	h->open[h->n_open++] = cpu;
	c->open = true;
	return 0;
}

static int history_on_switch(struct history *h, const struct event *ev)
{
	bool closes = ev->sw.synthetic && ev->sw.next_tid == 0;
	struct history_cpu *c;

	if (ev->cpu > HISTORY_CPU_MAX)
		return 0;
	c = history_get_cpu(h, ev->cpu);
	if (!c || history_open_cpu(h, c, ev->cpu) < 0)
		return -ENOMEM;
	/* The slice before belongs to another thread: records are missing, and its end is
	 * unknown. */
	if (c->n > 0 && c->turns[c->n - 1].tid != ev->tid)
		c->turns[c->n - 1].known = false;
	return history_add_turn(h, c, (struct history_turn){ ev->ts_ns, ev->sw.next_tid, !closes });
}

/* From TS_NS on, the thread on each CPU is unknown, until the CPU has a switch again. */
static int history_end_turns(struct history *h, uint64_t ts_ns)
{
	for (; h->n_open > 0; h->n_open--) {
		struct history_cpu *c = h->cpus[h->open[h->n_open - 1]];
		int r = history_add_turn(h, c, (struct history_turn){ ts_ns, 0, false });

		if (r < 0)
			return r;
		c->open = false;
	}
	return 0;
}

/* The thread has another koid from now on: its slice under the old koid ends here. */
static int history_on_exec(struct history *h, const struct event *ev)
{
	const struct history_thread *t = table_get(&h->threads, ev->exec.old_tid);
	const struct history_piece *last = t && t->n > 0 ? &t->pieces[t->n - 1] : NULL;
	struct history_cpu *c;

	if (!last || last->state != THREAD_RUNNING || last->cpu >= h->n_cpus)
		return 0;
	c = h->cpus[last->cpu];
	return c && c->n > 0 && c->turns[c->n - 1].tid == ev->exec.old_tid
		       ? history_add_turn(h, c, (struct history_turn){ ev->ts_ns, ev->tid, true })
		       : 0;
}

static int history_on_fork(struct history *h, const struct event *ev)
{
	struct history_thread *t;

	if (ev->fork.child_tid == 0 || ev->tid == 0 || ev->tid == ev->fork.child_tid)
		return 0;
	if (h->n_pieces + HISTORY_THREAD_COST > h->limits.segments)
		return -ENOBUFS;
	t = history_get_thread(h, ev->fork.child_tid);
	if (!t)
		return -ENOMEM;
	if (t->n == 0 || t->pieces[0].from_ns >= ev->ts_ns) {
		t->creator_tid = ev->tid;
		t->created_ns = ev->ts_ns;
	}
	return 0;
}

bool history_next_slice(const struct history *h, uint32_t cpu, uint64_t from_ns, size_t *pos,
			struct history_slice *ret)
{
	const struct history_cpu *c = history_cpu_of(h, cpu);
	size_t i = *pos;

	if (!c || c->n == 0)
		return false;
	if (i == 0) {
		/* The last slice has no end. */
		i = ARRAY_FIRST(k, 0, c->n, c->turns[k].from_ns > from_ns);
		i -= i > 0;
	}
	if (i >= c->n)
		return false;
	*ret = (struct history_slice){
		.from_ns = c->turns[i].from_ns,
		.to_ns = i + 1 < c->n ? c->turns[i + 1].from_ns : h->end_ns ?: UINT64_MAX,
		.tid = c->turns[i].tid,
		.known = c->turns[i].known,
	};
	*pos = i + 1;
	return ret->to_ns > ret->from_ns;
}

uint32_t history_n_cpus(const struct history *h)
{
	return (uint32_t)h->n_cpus;
}

/* ---- interrupts ---- */

/* Finds the number of NAME. If there are too many names, further ones get the number of the
 * last. */
static int history_name(struct history *h, const char *name, uint16_t *ret)
{
	const char *text = text_set_keep(&h->texts, name);
	size_t i = 0;

	if (!text)
		return -ENOMEM;
	while (i < h->n_names && h->names[i] != text)
		i++;
	if (i == HISTORY_NAMES_MAX)
		i--;
	else if (i == h->n_names)
		h->names[h->n_names++] = text;
	*ret = (uint16_t)i;
	return 0;
}

static int history_on_interval(struct history *h, const struct event *ev)
{
	uint64_t ns = ev->interval.end_ns - ev->ts_ns;
	struct history_handler handler = {
		.from_ns = ev->ts_ns,
		.length_ns = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX,
		.kind = (uint8_t)ev->interval.kind,
	};
	struct history_cpu *c;

	if (ev->cpu > HISTORY_CPU_MAX || ev->interval.end_ns < ev->ts_ns ||
	    ev->ts_ns < h->begin_ns ||
	    (ev->interval.kind != INTERVAL_IRQ && ev->interval.kind != INTERVAL_SOFTIRQ))
		return 0;
	if (h->n_handlers >= h->limits.interrupts)
		return -ENOBUFS;
	c = history_get_cpu(h, ev->cpu);
	if (!c || GROW(c->handlers, c->room_handlers, c->n_handlers + 1) < 0 ||
	    history_name(h, ev->interval.name, &handler.name) < 0)
		return -ENOMEM;
	/* A nested handler ends before the outer one, so its record comes first. */
	c->unsorted |=
		c->n_handlers > 0 && c->handlers[c->n_handlers - 1].from_ns > handler.from_ns;
	c->indexed = false;
	c->handlers[c->n_handlers++] = handler;
	h->n_handlers++;
	return 0;
}

DEFINE_ORDER(history_handler_order, struct history_handler,
	     COMPARE(x->from_ns, y->from_ns) ?: COMPARE(y->length_ns, x->length_ns))

/* Sorts the handlers of CPU by their begin. Returns the CPU; NULL = no such CPU. */
static struct history_cpu *history_sort_handlers(const struct history *h, uint32_t cpu)
{
	struct history_cpu *c = cpu < h->n_cpus ? h->cpus[cpu] : NULL;

	if (!c)
		return NULL;
	if (c->unsorted)
		SORT(c->handlers, c->n_handlers, history_handler_order);
	c->unsorted = false;
	return c;
}

static uint64_t history_handler_end(const struct history_handler *x)
{
	return x->from_ns + x->length_ns;
}

/*
 * Sorts the handlers of CPU and computes their sums and nesting, so that a question takes
 * logarithmic time, however long a handler is. Returns the CPU; NULL = no such CPU.
 */
static const struct history_cpu *history_index_handlers(const struct history *h, uint32_t cpu)
{
	struct history_cpu *c = history_sort_handlers(h, cpu);
	size_t around[HISTORY_NESTED_MAX], depth = 0;
	uint64_t reach_ns = 0, sum_ns = 0;

	for (size_t i = 0; c && !c->indexed && i < c->n_handlers; i++) {
		struct history_handler *x = &c->handlers[i];
		uint64_t end_ns = history_handler_end(x);

		while (depth > 0 &&
		       history_handler_end(&c->handlers[around[depth - 1]]) < x->from_ns)
			depth--;
		x->outer = depth > 0 ? (uint32_t)(i - around[depth - 1]) : 0;
		if (depth < HISTORY_NESTED_MAX)
			around[depth++] = i;
		if (i > 0)
			sum_ns += (reach_ns < x->from_ns ? reach_ns : x->from_ns) -
				  c->handlers[i - 1].from_ns;
		reach_ns = end_ns > reach_ns ? end_ns : reach_ns;
		x->before_ns = sum_ns;
		x->reach_ns = (uint32_t)(reach_ns - x->from_ns);
	}
	if (c)
		c->indexed = true;
	return c;
}

int history_find_interrupt(const struct history *h, uint32_t cpu, uint64_t at_ns,
			   struct history_interrupt *ret)
{
	const struct history_cpu *c = history_index_handlers(h, cpu);
	const struct history_handler *x;
	size_t i;

	if (h->n_handlers == 0)
		return -ENODATA;
	i = c ? ARRAY_FIRST(k, 0, c->n_handlers, c->handlers[k].from_ns > at_ns) : 0;
	if (i == 0)
		return 0;
	x = &c->handlers[i - 1];
	while (history_handler_end(x) < at_ns && x->outer > 0)
		x -= x->outer;
	if (history_handler_end(x) < at_ns)
		return 0;
	*ret = (struct history_interrupt){
		.from_ns = x->from_ns,
		.to_ns = history_handler_end(x),
		.kind = x->kind,
		.name = h->names[x->name],
	};
	return 1;
}

/* The time in interrupts on C before AT_NS; nested ones count once. */
static uint64_t history_interrupted_until(const struct history_cpu *c, uint64_t at_ns)
{
	size_t i = ARRAY_FIRST(k, 0, c->n_handlers, c->handlers[k].from_ns >= at_ns);
	const struct history_handler *x = i > 0 ? &c->handlers[i - 1] : NULL;
	uint64_t ns = x ? at_ns - x->from_ns : 0;

	return x ? x->before_ns + (ns < x->reach_ns ? ns : x->reach_ns) : 0;
}

uint64_t history_interrupted_ns(const struct history *h, uint32_t cpu, uint64_t from_ns,
				uint64_t to_ns)
{
	const struct history_cpu *c = history_index_handlers(h, cpu);

	return c && from_ns < to_ns
		       ? history_interrupted_until(c, to_ns) - history_interrupted_until(c, from_ns)
		       : 0;
}

/* ---- all ---- */

int history_add(struct history *h, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_SWITCH:
		return history_on_switch(h, ev);
	case EVENT_FORK:
		return history_on_fork(h, ev);
	case EVENT_EXEC:
		return ev->exec.old_tid != 0 ? history_on_exec(h, ev) : 0;
	case EVENT_INTERVAL:
		return history_on_interval(h, ev);
	case EVENT_LOST:
		return strcmp(ev->lost.class_name, event_class_names[CLASS_SCHED]) == 0
			       ? history_end_turns(h, ev->lost.first_ns ?: ev->ts_ns)
			       : 0;
	case EVENT_SHED:
		return strcmp(ev->shed.what, "session") == 0 && !ev->shed.back
			       ? history_end_turns(h, ev->ts_ns)
			       : 0;
	case EVENT_DAMAGE:
		return history_end_turns(h, ev->ts_ns);
	default:
		return 0;
	}
}

void history_finish(struct history *h, uint64_t end_ns)
{
	h->end_ns = end_ns;
}

int history_add_earlier(struct history *h, const struct history_earlier *wait)
{
	struct history_thread *t = wait->tid != 0 ? history_get_thread(h, wait->tid) : NULL;
	uint64_t first_ns = t && t->n > 0 ? t->pieces[0].from_ns : h->end_ns;
	bool is_cut = wait->to_ns < first_ns; /* the state is unknown after it */
	struct history_piece pieces[2] = {
		{
			.from_ns = wait->from_ns,
			.state = THREAD_BLOCKED,
			.end = is_cut          ? THREAD_END_GAP
			       : t && t->n > 0 ? THREAD_END_EVENT
					       : THREAD_END_OPEN,
			.letter = history_letter_index(wait->letter) & 15,
		},
		{ .from_ns = wait->to_ns, .end = THREAD_END_GAP },
	};
	size_t n = 1;

	if (!t)
		return wait->tid != 0 ? -ENOMEM : 0;
	if (t->forgotten || t->creator_tid != 0 || wait->from_ns >= first_ns ||
	    wait->to_ns <= wait->from_ns)
		return 0;
	if (GROW(t->pieces, t->room, t->n + 2) < 0)
		return -ENOMEM;
	if (t->n > 0) {
		n += is_cut;
		pieces[0].woken =
			!is_cut && t->pieces[0].state == THREAD_RUNNABLE && t->pieces[0].woken;
		pieces[0].waker_tid = pieces[0].woken ? t->pieces[0].waker_tid : 0;
		pieces[0].cpu = t->pieces[0].cpu;
		memmove(t->pieces + n, t->pieces, t->n * sizeof(*t->pieces));
	} else {
		t->to_ns = is_cut ? wait->to_ns : h->end_ns;
	}
	memcpy(t->pieces, pieces, n * sizeof(*pieces));
	t->n += n;
	h->n_pieces += n;
	return 0;
}

static bool history_nearly_full(size_t n, size_t limit)
{
	return n + limit / 100 + HISTORY_THREAD_COST + 2 > limit;
}

bool history_is_full(const struct history *h)
{
	return history_nearly_full(h->n_pieces, h->limits.segments) ||
	       history_nearly_full(h->n_turns, h->limits.slices) ||
	       history_nearly_full(h->n_handlers, h->limits.interrupts);
}

/* Removes the first N of the *COUNT elements (SIZE bytes each) of LIST, and frees their memory. */
static void *history_drop(void *list, size_t n, size_t *count, size_t size)
{
	void *smaller;

	if (n == 0)
		return list;
	*count -= n;
	memmove(list, (char *)list + n * size, *count * size);
	smaller = realloc(list, (*count + 1) * size);
	return smaller ?: list;
}

static void history_forget_pieces(struct history *h, struct history_thread *t, uint64_t before_ns)
{
	size_t n =
		t->n == 0 ? 0
			  : ARRAY_FIRST(k, 0, t->n, history_unpack(t, k).segment.to_ns > before_ns);

	if (n == 0)
		return;
	h->n_pieces -= n;
	t->pieces = history_drop(t->pieces, n, &t->n, sizeof(*t->pieces));
	t->room = t->n + 1;
	t->forgotten = true;
}

static void history_forget_cpu(struct history *h, struct history_cpu *c, uint64_t before_ns)
{
	size_t n = ARRAY_FIRST(k, 0, c->n, k + 1 == c->n || c->turns[k + 1].from_ns > before_ns);

	if (n > 0) {
		h->n_turns -= n;
		c->turns = history_drop(c->turns, n, &c->n, sizeof(*c->turns));
		c->room = c->n + 1;
	}
	n = ARRAY_FIRST(k, 0, c->n_handlers, c->handlers[k].from_ns >= before_ns);
	if (n > 0) {
		h->n_handlers -= n;
		c->handlers = history_drop(c->handlers, n, &c->n_handlers, sizeof(*c->handlers));
		c->room_handlers = c->n_handlers + 1;
		c->indexed = false;
	}
}

/*
 * Forgets the threads without segments. A thread that never had one is kept if it was created at
 * BEFORE_NS or later: its creator is needed for its first segment.
 */
static void history_forget_threads(struct history *h, uint64_t before_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n_tids; i++) {
		struct history_thread *t = table_get(&h->threads, h->tids[i]);

		if (t->n > 0 || (!t->forgotten && t->created_ns >= before_ns)) {
			h->tids[n++] = t->tid;
			continue;
		}
		history_free_thread(table_remove(&h->threads, t->tid));
		h->n_pieces -= HISTORY_THREAD_COST;
	}
	h->n_tids = n;
}

void history_forget(struct history *h, uint64_t before_ns)
{
	struct history_thread *t;

	if (before_ns <= h->begin_ns)
		return;
	for (size_t pos = 0; (t = table_next(&h->threads, &pos));)
		history_forget_pieces(h, t, before_ns);
	for (uint32_t i = 0; i < h->n_cpus; i++)
		if (history_sort_handlers(h, i))
			history_forget_cpu(h, h->cpus[i], before_ns);
	history_forget_threads(h, before_ns);
	h->begin_ns = before_ns;
}

uint64_t history_begin_ns(const struct history *h)
{
	return h->begin_ns;
}
