/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/why-reclaims.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

static const struct {
	const char *begin, *end, *what;
} why_reclaims_pairs[] = {
	{ "vmscan:mm_vmscan_direct_reclaim_begin", "vmscan:mm_vmscan_direct_reclaim_end",
	  "direct reclaim" },
	{ "vmscan:mm_vmscan_memcg_reclaim_begin", "vmscan:mm_vmscan_memcg_reclaim_end",
	  "reclaim in its cgroup" },
	{ "compaction:mm_compaction_begin", "compaction:mm_compaction_end", "compaction" },
};

void why_reclaims_deinit(struct why_reclaims *r)
{
	free(r->list);
	table_deinit(&r->open);
	*r = (struct why_reclaims){ 0 };
}

static int why_reclaims_begin(struct why_reclaims *r, const struct event *ev, const char *what)
{
	if (r->n == WHY_RECLAIMS_MAX) {
		r->n_dropped++;
		return 0;
	}
	if (GROW(r->list, r->room, r->n + 1) < 0)
		return -ENOMEM;
	r->list[r->n++] =
		(struct why_reclaim){ .tid = ev->tid, .from_ns = ev->ts_ns, .what = what };
	/* (the end of the one before, if any, was lost: it stays empty) */
	return table_set(&r->open, ev->tid, (void *)(uintptr_t)r->n);
}

static void why_reclaims_end(struct why_reclaims *r, uintptr_t number, uint64_t at_ns)
{
	if (number != 0 && at_ns > r->list[number - 1].from_ns)
		r->list[number - 1].to_ns = at_ns;
}

int why_reclaims_add(struct why_reclaims *r, const struct event *ev)
{
	if (ev->kind != EVENT_TRACEPOINT || ev->tid == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(why_reclaims_pairs); i++) {
		if (strcmp(ev->tracepoint.name, why_reclaims_pairs[i].begin) == 0)
			return why_reclaims_begin(r, ev, why_reclaims_pairs[i].what);
		if (strcmp(ev->tracepoint.name, why_reclaims_pairs[i].end) == 0)
			why_reclaims_end(r, (uintptr_t)table_remove(&r->open, ev->tid), ev->ts_ns);
	}
	return 0;
}

DEFINE_ORDER(why_reclaims_order, struct why_reclaim,
	     COMPARE(x->tid, y->tid) ?: COMPARE(x->from_ns, y->from_ns))

void why_reclaims_finish(struct why_reclaims *r, uint64_t end_ns, bool lost)
{
	uintptr_t number;
	size_t n = 0;

	for (size_t pos = 0; !lost && (number = (uintptr_t)table_next(&r->open, &pos)) != 0;)
		why_reclaims_end(r, number, end_ns);
	table_clear(&r->open);
	for (size_t i = 0; i < r->n; i++)
		if (r->list[i].to_ns != 0)
			r->list[n++] = r->list[i];
	r->n = n;
	SORT(r->list, r->n, why_reclaims_order);
}

/* The number of the first one of TID, or of a thread after it, that ends after AT_NS. */
static size_t why_reclaims_seek(const struct why_reclaims *r, uint32_t tid, uint64_t at_ns)
{
	size_t low = 0, high = r->n_dropped > 0 ? 0 : r->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct why_reclaim *x = &r->list[middle];

		if (x->tid < tid || (x->tid == tid && x->to_ns <= at_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return r->n_dropped > 0 ? r->n : low;
}

const struct why_reclaim *why_reclaims_find(const struct why_reclaims *r, uint32_t tid,
					    uint64_t at_ns)
{
	size_t i = why_reclaims_seek(r, tid, at_ns);

	return i < r->n && r->list[i].tid == tid && r->list[i].from_ns <= at_ns ? &r->list[i]
										: NULL;
}

uint64_t why_reclaims_overlap(const struct why_reclaims *r, uint32_t tid, uint64_t from_ns,
			      uint64_t to_ns)
{
	uint64_t ns = 0;

	for (size_t i = why_reclaims_seek(r, tid, from_ns);
	     i < r->n && r->list[i].tid == tid && r->list[i].from_ns < to_ns; i++) {
		const struct why_reclaim *x = &r->list[i];

		ns += (x->to_ns < to_ns ? x->to_ns : to_ns) -
		      (x->from_ns > from_ns ? x->from_ns : from_ns);
	}
	return ns;
}
