/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/idle-time.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"

/* A moment at which the number of idle CPUs changes between 0, 1 and more. */
struct idle_turn {
	uint64_t ts_ns;
	uint64_t one_ns;       /* exactly one was idle, before */
	uint64_t more_ns : 62; /* more than one was idle, before */
	uint64_t n_idle : 2;   /* from ts_ns on; 2 = more than one */
};

/* A position in the slices of one CPU, while those of all CPUs are merged. */
struct idle_cursor {
	uint64_t ts_ns; /* its next change */
	uint64_t to_ns; /* end of the current or next idle slice; 0 = no further one */
	uint32_t cpu;
	size_t pos;
	bool idle;
};

void idle_time_deinit(struct idle_time *t)
{
	free(t->turns);
	*t = (struct idle_time){ 0 };
}

/* Moves C to its next idle slice. Returns false if no idle slice follows. */
static bool idle_time_next(const struct history *h, struct idle_cursor *c)
{
	struct history_slice slice;

	c->idle = false;
	while (history_next_slice(h, c->cpu, 0, &c->pos, &slice)) {
		if (!slice.known || slice.tid != 0)
			continue;
		c->ts_ns = slice.from_ns;
		c->to_ns = slice.to_ns;
		return true;
	}
	return false;
}

/* A heap of cursors, the earliest first. */
static void idle_time_sink(struct idle_cursor *heap, size_t n, size_t i)
{
	for (;;) {
		size_t child = 2 * i + 1;
		struct idle_cursor swap = heap[i];

		if (child >= n)
			return;
		if (child + 1 < n && heap[child + 1].ts_ns < heap[child].ts_ns)
			child++;
		if (swap.ts_ns <= heap[child].ts_ns)
			return;
		heap[i] = heap[child];
		heap[child] = swap;
		i = child;
	}
}

/* From TS_NS on, N CPUs are idle. */
static int idle_time_add(struct idle_time *t, uint64_t ts_ns, size_t n)
{
	struct idle_turn turn = { .ts_ns = ts_ns, .n_idle = n < 2 ? n & 3 : 2 };

	if (t->n > 0) {
		const struct idle_turn *last = &t->turns[t->n - 1];

		if (last->n_idle == turn.n_idle)
			return 0;
		turn.one_ns = last->one_ns + (last->n_idle == 1 ? ts_ns - last->ts_ns : 0);
		turn.more_ns = last->more_ns + (last->n_idle == 2 ? ts_ns - last->ts_ns : 0);
	}
	if (GROW(t->turns, t->room, t->n + 1) < 0)
		return -ENOMEM;
	t->turns[t->n++] = turn;
	return 0;
}

/* Merges the changes of N CPUs. */
static int idle_time_merge(struct idle_time *t, const struct history *h, struct idle_cursor *heap,
			   size_t n)
{
	size_t n_idle = 0;
	int r = 0;

	for (size_t i = n / 2; i-- > 0;)
		idle_time_sink(heap, n, i);
	while (n > 0 && r == 0) {
		uint64_t ts_ns = heap[0].ts_ns;

		if (!heap[0].idle) {
			n_idle++;
			heap[0].idle = true;
			heap[0].ts_ns = heap[0].to_ns;
		} else {
			n_idle--;
			if (!idle_time_next(h, &heap[0]))
				heap[0] = heap[--n];
		}
		idle_time_sink(heap, n, 0);
		/* (changes at the same time are one) */
		if (n == 0 || heap[0].ts_ns > ts_ns)
			r = idle_time_add(t, ts_ns, n_idle);
	}
	return r;
}

int idle_time_make(struct idle_time *t, const struct history *h)
{
	_cleanup_free_ struct idle_cursor *heap = calloc(history_n_cpus(h) + 1, sizeof(*heap));
	size_t n = 0;

	if (!heap)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < history_n_cpus(h); cpu++) {
		heap[n] = (struct idle_cursor){ .cpu = cpu };
		n += idle_time_next(h, &heap[n]);
	}
	return idle_time_merge(t, h, heap, n);
}

/* Sums up to AT_NS. */
static void idle_time_until(const struct idle_time *t, uint64_t at_ns, uint64_t *ret_one_ns,
			    uint64_t *ret_more_ns)
{
	size_t i = ARRAY_FIRST(k, 0, t->n, t->turns[k].ts_ns > at_ns);
	const struct idle_turn *turn = i > 0 ? &t->turns[i - 1] : NULL;

	*ret_one_ns = *ret_more_ns = 0;
	if (!turn)
		return;
	*ret_one_ns = turn->one_ns + (turn->n_idle == 1 ? at_ns - turn->ts_ns : 0);
	*ret_more_ns = turn->more_ns + (turn->n_idle == 2 ? at_ns - turn->ts_ns : 0);
}

/* The time with exactly one idle CPU. Sets *RET_MORE_NS to the time with several idle ones. */
static uint64_t idle_time_between(const struct idle_time *t, uint64_t from_ns, uint64_t to_ns,
				  uint64_t *ret_more_ns)
{
	uint64_t one_ns[2], more_ns[2];

	idle_time_until(t, from_ns, &one_ns[0], &more_ns[0]);
	idle_time_until(t, to_ns, &one_ns[1], &more_ns[1]);
	*ret_more_ns = more_ns[1] - more_ns[0];
	return one_ns[1] - one_ns[0];
}

uint64_t idle_time_beside(const struct idle_time *t, const struct history *h, uint32_t cpu,
			  uint64_t from_ns, uint64_t to_ns)
{
	uint64_t more_ns, own_ns = 0, ignored;
	uint64_t one_ns = idle_time_between(t, from_ns, to_ns, &more_ns);
	struct history_slice slice;

	if (t->n == 0 || to_ns <= from_ns)
		return 0;
	/* The one idle CPU can have been CPU itself: subtract its idle time. */
	for (size_t pos = 0; one_ns > 0 && history_next_slice(h, cpu, from_ns, &pos, &slice);) {
		if (slice.from_ns >= to_ns)
			break;
		if (!slice.known || slice.tid != 0 || slice.to_ns <= from_ns)
			continue;
		own_ns += idle_time_between(t, slice.from_ns > from_ns ? slice.from_ns : from_ns,
					    slice.to_ns < to_ns ? slice.to_ns : to_ns, &ignored);
	}
	return more_ns + one_ns - own_ns;
}

/* The idle time of CPU in [FROM_NS, TO_NS). Adds the number of visited slices to *N. */
static uint64_t idle_time_of(const struct history *h, uint32_t cpu, uint64_t from_ns,
			     uint64_t to_ns, uint64_t *n)
{
	struct history_slice slice;
	uint64_t ns = 0;

	for (size_t pos = 0; history_next_slice(h, cpu, from_ns, &pos, &slice);) {
		if (slice.from_ns >= to_ns)
			break;
		++*n;
		if (!slice.known || slice.tid != 0 || slice.to_ns <= from_ns)
			continue;
		ns += (slice.to_ns < to_ns ? slice.to_ns : to_ns) -
		      (slice.from_ns > from_ns ? slice.from_ns : from_ns);
	}
	return ns;
}

uint64_t idle_time_add_each(const struct history *h, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
			    uint64_t *ns)
{
	uint64_t n = history_n_cpus(h);

	for (uint32_t i = 0; i < history_n_cpus(h); i++)
		if (i != cpu)
			ns[i] += idle_time_of(h, i, from_ns, to_ns, &n);
	return n;
}
