/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sorts facts by time as readers do: facts of equal times keep the order of the file. Archives are
 * mostly sorted, so a fact that is a little late is inserted at its place in the buffer at once.
 * Later ones are appended. When the buffer is full, it is sorted by merging its runs. Then its
 * first half is passed on, so a fact can be late by FXT_LINT_WINDOW facts.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "reader/fxt/fxt-lint-state.h"

/* A fact that must move over more facts than this is appended instead. */
enum { MOVE_MAX = 1024 };

static void fxt_lint_order_judge(struct fxt_lint *l, const struct fxt_lint_fact *fact)
{
	switch ((enum fxt_lint_fact_kind)fact->kind) {
	case FXT_LINT_SWITCH:
	case FXT_LINT_SYNTHETIC_SWITCH:
	case FXT_LINT_WAKEUP:
		fxt_lint_sched_fact(l, fact);
		break;
	case FXT_LINT_FLOW_BEGIN:
	case FXT_LINT_FLOW_STEP:
	case FXT_LINT_FLOW_END:
		fxt_lint_slice_fact(l, fact);
		fxt_lint_span_fact(l, fact);
		break;
	case FXT_LINT_BEGIN:
	case FXT_LINT_END:
	case FXT_LINT_COMPLETE:
		fxt_lint_slice_fact(l, fact);
		break;
	case FXT_LINT_ASYNC_BEGIN:
	case FXT_LINT_ASYNC_INSTANT:
	case FXT_LINT_ASYNC_END:
		fxt_lint_span_fact(l, fact);
		break;
	}
}

/* Returns the end of the sorted run that begins at I. */
static size_t fxt_lint_order_run_end(const struct fxt_lint_fact *facts, size_t i, size_t n)
{
	while (++i < n && facts[i].ts_ns >= facts[i - 1].ts_ns)
		;
	return i;
}

static void fxt_lint_order_merge_two(const struct fxt_lint_fact *a, size_t na,
				     const struct fxt_lint_fact *b, size_t nb,
				     struct fxt_lint_fact *to)
{
	while (na > 0 && nb > 0) {
		if (b->ts_ns < a->ts_ns) {
			*to++ = *b++;
			nb--;
		} else {
			*to++ = *a++;
			na--;
		}
	}
	memcpy(to, a, na * sizeof(*a));
	memcpy(to + na, b, nb * sizeof(*b));
}

/* Merges pairs of neighbouring runs from FROM to TO. Returns false if there was only one run. */
static bool fxt_lint_order_merge_runs(const struct fxt_lint_fact *from, size_t n,
				      struct fxt_lint_fact *to)
{
	for (size_t i = 0; i < n;) {
		size_t middle = fxt_lint_order_run_end(from, i, n), end;

		if (i == 0 && middle == n)
			return false;
		end = middle < n ? fxt_lint_order_run_end(from, middle, n) : n;
		fxt_lint_order_merge_two(from + i, middle - i, from + middle, end - middle, to + i);
		i = end;
	}
	return true;
}

static void fxt_lint_order_sort(struct fxt_lint_order *o)
{
	while (fxt_lint_order_merge_runs(o->facts, o->n, o->spare)) {
		struct fxt_lint_fact *sorted = o->spare;

		o->spare = o->facts;
		o->facts = sorted;
	}
	o->unsorted = false;
}

static int fxt_lint_order_grow(struct fxt_lint_order *o)
{
	size_t room = o->room;

	return GROW(o->spare, room, o->n + 1) < 0 ? -ENOMEM : GROW(o->facts, o->room, o->n + 1);
}

static void fxt_lint_order_pass_on(struct fxt_lint *l, size_t n)
{
	struct fxt_lint_order *o = &l->order;

	if (n == 0)
		return;
	if (o->unsorted)
		fxt_lint_order_sort(o);
	for (size_t i = 0; i < n; i++)
		fxt_lint_order_judge(l, &o->facts[i]);
	o->n -= n;
	memmove(o->facts, o->facts + n, o->n * sizeof(*o->facts));
}

void fxt_lint_order_add(struct fxt_lint *l, const struct fxt_lint_fact *fact)
{
	struct fxt_lint_order *o = &l->order;
	size_t i;

	if (l->error)
		return;
	if (o->n == (size_t)2 * FXT_LINT_WINDOW)
		fxt_lint_order_pass_on(l, FXT_LINT_WINDOW);
	l->error = fxt_lint_order_grow(o);
	if (l->error)
		return;
	i = o->n++;
	if (!o->unsorted && i > 0 && o->facts[i - 1].ts_ns > fact->ts_ns) {
		size_t first = i > MOVE_MAX ? i - MOVE_MAX : 0;

		if (first > 0 && o->facts[first].ts_ns > fact->ts_ns) {
			o->unsorted = true;
		} else {
			while (i > first && o->facts[i - 1].ts_ns > fact->ts_ns) {
				o->facts[i] = o->facts[i - 1];
				i--;
			}
		}
	}
	o->facts[i] = *fact;
}

void fxt_lint_order_finish(struct fxt_lint *l)
{
	fxt_lint_order_pass_on(l, l->order.n);
}
