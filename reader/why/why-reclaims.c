/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/why-reclaims.h"

#include <assert.h>
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

static_assert(ARRAY_SIZE(why_reclaims_pairs) == WHY_RECLAIMS_PAIRS, "a sum for each pair");

void why_reclaims_deinit(struct why_reclaims *r)
{
	free(r->list);
	free(r->losses.list);
	free(r->pauses.list);
	table_deinit(&r->open);
	table_deinit(&r->ended);
	*r = (struct why_reclaims){ 0 };
}

/* ---- gaps ---- */

static int why_reclaims_add_gap(struct why_reclaims *r, struct why_reclaims_gaps *gaps,
				uint64_t from_ns, uint64_t to_ns)
{
	if (gaps->n == WHY_RECLAIMS_GAPS_MAX) {
		r->n_dropped++;
		return 0;
	}
	if (GROW(gaps->list, gaps->room, gaps->n + 1) < 0)
		return -ENOMEM;
	gaps->list[gaps->n++] = (struct why_reclaims_gap){
		.from_ns = from_ns,
		.to_ns = to_ns > from_ns ? to_ns : from_ns,
	};
	return 0;
}

DEFINE_ORDER(why_reclaims_gap_order, struct why_reclaims_gap, COMPARE(x->from_ns, y->from_ns))

/* Joins gaps that overlap. */
static void why_reclaims_sort_gaps(struct why_reclaims_gaps *gaps)
{
	size_t n = 0;

	SORT(gaps->list, gaps->n, why_reclaims_gap_order);
	for (size_t i = 0; i < gaps->n; i++) {
		const struct why_reclaims_gap x = gaps->list[i];

		if (n == 0 || x.from_ns > gaps->list[n - 1].to_ns)
			gaps->list[n++] = x;
		else if (x.to_ns > gaps->list[n - 1].to_ns)
			gaps->list[n - 1].to_ns = x.to_ns;
	}
	gaps->n = n;
}

/* Drops empty gaps: if a session ends and continues in its next part at the same time, this is no
 * pause. */
static void why_reclaims_drop_empty_gaps(struct why_reclaims_gaps *gaps)
{
	size_t n = 0;

	for (size_t i = 0; i < gaps->n; i++)
		if (gaps->list[i].from_ns < gaps->list[i].to_ns)
			gaps->list[n++] = gaps->list[i];
	gaps->n = n;
}

/* The first gap that overlaps with [FROM_NS, TO_NS], whose ends count as overlap; NULL = none. */
static const struct why_reclaims_gap *why_reclaims_find_gap(const struct why_reclaims_gaps *gaps,
							    uint64_t from_ns, uint64_t to_ns)
{
	size_t i = ARRAY_FIRST(k, 0, gaps->n, gaps->list[k].to_ns >= from_ns);

	return i < gaps->n && gaps->list[i].from_ns <= to_ns ? &gaps->list[i] : NULL;
}

int why_reclaims_pause(struct why_reclaims *r, uint64_t from_ns, bool paused, uint64_t at_ns)
{
	struct why_reclaims_gap *last = r->pauses.n > 0 ? &r->pauses.list[r->pauses.n - 1] : NULL;
	int error = 0;

	if (last ? last->from_ns != from_ns : paused || from_ns != 0) {
		error = why_reclaims_add_gap(r, &r->pauses, from_ns, paused ? UINT64_MAX : at_ns);
		r->pauses_now = paused;
	} else if (r->pauses_now && !paused) {
		last->to_ns = at_ns > from_ns ? at_ns : from_ns;
		r->pauses_now = false;
	}
	return error;
}

/* ---- events ---- */

static uint64_t why_reclaims_key(uint32_t tid, size_t pair)
{
	return (uint64_t)tid * WHY_RECLAIMS_PAIRS + pair;
}

static int why_reclaims_begin(struct why_reclaims *r, const struct event *ev, size_t pair)
{
	uint64_t key = why_reclaims_key(ev->tid, pair);

	r->n_begins[pair]++;
	if (table_get(&r->open, key))
		r->repeats[pair] = true;
	if (r->n == WHY_RECLAIMS_MAX) {
		r->n_dropped++;
		return 0;
	}
	if (GROW(r->list, r->room, r->n + 1) < 0)
		return -ENOMEM;
	r->list[r->n++] = (struct why_reclaim){ .tid = ev->tid,
						.from_ns = ev->ts_ns,
						.what = why_reclaims_pairs[pair].what };
	/* (the end of the one before, if any, was lost: it stays empty) */
	return table_set(&r->open, key, (void *)(uintptr_t)r->n);
}

static void why_reclaims_end(struct why_reclaims *r, uintptr_t number, uint64_t at_ns)
{
	if (number != 0 && at_ns > r->list[number - 1].from_ns)
		r->list[number - 1].to_ns = at_ns;
}

/* Adds an end whose begin is not known. Only before the first begin, it matters if it repeats. */
static int why_reclaims_end_unknown(struct why_reclaims *r, uint64_t key, size_t pair)
{
	if (r->n_begins[pair] > 0 || r->repeats[pair])
		return 0;
	r->repeats[pair] = table_get(&r->ended, key) != NULL;
	return table_set(&r->ended, key, r);
}

static int why_reclaims_add_tracepoint(struct why_reclaims *r, const struct event *ev)
{
	uintptr_t number;
	uint64_t key;

	for (size_t i = 0; i < WHY_RECLAIMS_PAIRS; i++) {
		if (strcmp(ev->tracepoint.name, why_reclaims_pairs[i].begin) == 0)
			return why_reclaims_begin(r, ev, i);
		if (strcmp(ev->tracepoint.name, why_reclaims_pairs[i].end) != 0)
			continue;
		r->n_ends[i]++;
		key = why_reclaims_key(ev->tid, i);
		number = (uintptr_t)table_remove(&r->open, key);
		if (number == 0)
			return why_reclaims_end_unknown(r, key, i);
		why_reclaims_end(r, number, ev->ts_ns);
	}
	return 0;
}

int why_reclaims_add(struct why_reclaims *r, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_TRACEPOINT:
	case EVENT_SWITCH:
		r->last_ns = ev->ts_ns > r->last_ns ? ev->ts_ns : r->last_ns;
		return ev->kind == EVENT_TRACEPOINT && ev->tid != 0
			       ? why_reclaims_add_tracepoint(r, ev)
			       : 0;
	case EVENT_LOST:
		if (strcmp(ev->lost.class_name, event_class_names[CLASS_TRACEPOINTS]) != 0)
			return 0;
		return why_reclaims_add_gap(r, &r->losses, ev->lost.first_ns ?: ev->ts_ns,
					    ev->lost.last_ns);
	case EVENT_DAMAGE:
		/* (the time of the damage is unknown, but it is after the events so far) */
		return why_reclaims_add_gap(r, &r->losses, r->last_ns + 1, r->last_ns + 1);
	default:
		return 0;
	}
}

/* ---- the end ---- */

/* Ends the open reclaims at END_NS. Makes all reclaims of a pair empty if no end of the pair was
 * recorded. */
static void why_reclaims_close(struct why_reclaims *r, uint64_t end_ns)
{
	uintptr_t number;

	for (size_t pos = 0; (number = (uintptr_t)table_next(&r->open, &pos)) != 0;)
		why_reclaims_end(r, number, end_ns);
	table_clear(&r->open);
	for (size_t i = 0; i < r->n; i++)
		for (size_t pair = 0; pair < WHY_RECLAIMS_PAIRS; pair++)
			if (r->n_ends[pair] == 0 &&
			    r->list[i].what == why_reclaims_pairs[pair].what)
				r->list[i].to_ns = 0;
}

/* Cuts X at the begin of a pause. Returns false if the begin or end of X is unknown. */
static bool why_reclaims_is_known(const struct why_reclaims *r, struct why_reclaim *x)
{
	const struct why_reclaims_gap *pause;

	if (x->to_ns == 0 || why_reclaims_find_gap(&r->losses, x->from_ns, x->to_ns))
		return false;
	/* (a pause that only begins or ends at the time of an event does not count) */
	pause = why_reclaims_find_gap(&r->pauses, x->from_ns + 1, x->to_ns - 1);
	if (pause)
		x->to_ns = pause->from_ns;
	return x->to_ns > x->from_ns;
}

DEFINE_ORDER(why_reclaims_order, struct why_reclaim,
	     COMPARE(x->tid, y->tid) ?: COMPARE(x->from_ns, y->from_ns))

void why_reclaims_finish(struct why_reclaims *r, uint64_t end_ns)
{
	size_t n = 0;

	why_reclaims_sort_gaps(&r->losses);
	why_reclaims_sort_gaps(&r->pauses);
	why_reclaims_drop_empty_gaps(&r->pauses);
	why_reclaims_close(r, end_ns);
	for (size_t i = 0; i < r->n; i++)
		if (why_reclaims_is_known(r, &r->list[i]))
			r->list[n++] = r->list[i];
	r->n = n;
	SORT(r->list, r->n, why_reclaims_order);
	/* If a thread has two kinds at the same time, the one that began earlier counts. */
	n = 0;
	for (size_t i = 0; i < r->n; i++) {
		struct why_reclaim x = r->list[i];
		const struct why_reclaim *last = n > 0 ? &r->list[n - 1] : NULL;

		if (last && last->tid == x.tid && x.from_ns < last->to_ns)
			x.from_ns = last->to_ns;
		if (x.from_ns < x.to_ns)
			r->list[n++] = x;
	}
	r->n = n;
}

bool why_reclaims_half(const struct why_reclaims *r, size_t pair, struct why_reclaims_half *ret)
{
	bool begins = r->n_begins[pair] > 0;

	if (begins == (r->n_ends[pair] > 0))
		return false;
	/* (the missing half of a repetition can be lost) */
	*ret = (struct why_reclaims_half){
		.what = why_reclaims_pairs[pair].what,
		.begins = begins,
		.certain = r->repeats[pair] && r->losses.n == 0,
	};
	return true;
}

/* The index of the first reclaim of TID, or of a later thread, that ends after AT_NS. */
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
