/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

void ranges_deinit(struct ranges *set)
{
	set->list = free_ptr(set->list);
	set->n = set->room = 0;
}

struct range *ranges_from(const struct ranges *set, uint64_t address)
{
	return set->list + ARRAY_FIRST(i, 0, set->n, set->list[i].end > address);
}

static void ranges_notify(const struct ranges_sink *sink, const struct range *range, bool made)
{
	if (sink && sink->changed)
		sink->changed(range, made, sink->userdata);
}

/* Inserts RANGE, which does not overlap others. */
static int ranges_insert(struct ranges *set, const struct range *range,
			 const struct ranges_sink *sink)
{
	struct range *at;
	int r;

	if (range->start >= range->end)
		return 0;
	if (set->n_max && set->n >= set->n_max) {
		set->n_full++;
		return 0;
	}
	r = GROW(set->list, set->room, set->n + 1);
	if (r < 0)
		return r;
	at = ranges_from(set, range->start);
	memmove(at + 1, at, (size_t)(set->list + set->n - at) * sizeof(*at));
	*at = *range;
	set->n++;
	ranges_notify(sink, range, true);
	return 0;
}

static void ranges_remove_at(struct ranges *set, struct range *at)
{
	memmove(at, at + 1, (size_t)(set->list + set->n - at - 1) * sizeof(*at));
	set->n--;
}

/* Inserts the parts of WAS that remain when START to END is removed. */
static int ranges_put_back(struct ranges *set, const struct range *was, uint64_t start,
			   uint64_t end, const struct ranges_sink *sink)
{
	struct range left = *was, right = *was;
	int r;

	left.end = was->end < start ? was->end : start;
	right.start = was->start > end ? was->start : end;
	r = ranges_insert(set, &left, sink);
	return r < 0 ? r : ranges_insert(set, &right, sink);
}

int ranges_remove(struct ranges *set, uint64_t start, uint64_t end, uint64_t until_ns,
		  const struct ranges_sink *sink)
{
	int r = 0;

	while (r == 0 && start < end) {
		struct range *at = ranges_from(set, start), was;

		if (at == set->list + set->n || at->start >= end)
			break;
		was = *at;
		if (was.origin.since_ns <= until_ns) {
			ranges_remove_at(set, at);
			ranges_notify(sink, &was, false);
			r = ranges_put_back(set, &was, start, end, sink);
		}
		start = was.end;
	}
	return r;
}

int ranges_add(struct ranges *set, const struct range *range, const struct ranges_sink *sink)
{
	int r = ranges_remove(set, range->start, range->end, UINT64_MAX, sink);

	return r < 0 ? r : ranges_insert(set, range, sink);
}

/* Copies the parts of ranges that MOVE affects. The caller frees them. */
static int ranges_copy_parts(const struct ranges *set, const struct ranges_move *move,
			     struct range **ret, size_t *ret_n)
{
	uint64_t end = move->from + (move->bytes ? move->bytes : move->new_bytes);
	const struct range *at = ranges_from(set, move->from);
	struct range *parts = NULL;
	size_t n = 0, room = 0;

	for (; at < set->list + set->n && at->start < end; at++) {
		if (at->origin.since_ns > move->begun_ns)
			continue;
		if (GROW(parts, room, n + 1) < 0) {
			free(parts);
			return -ENOMEM;
		}
		parts[n] = *at;
		if (parts[n].start < move->from)
			parts[n].start = move->from;
		if (parts[n].end > end)
			parts[n].end = end;
		n++;
	}
	*ret = parts;
	*ret_n = n;
	return 0;
}

int ranges_move(struct ranges *set, const struct ranges_move *move, const struct ranges_sink *sink)
{
	_cleanup_free_ struct range *parts = NULL;
	uint64_t until = move->from + move->bytes;
	size_t n = 0;
	int r = ranges_copy_parts(set, move, &parts, &n);

	/*
	 * If mremap() is called with 0 bytes, it maps the same memory a second time, so the old
	 * range stays.
	 */
	if (r == 0 && move->bytes && !move->keep)
		r = ranges_remove(set, move->from, until, move->begun_ns, sink);
	if (r == 0)
		r = ranges_remove(set, move->to, move->to + move->new_bytes, UINT64_MAX, sink);
	for (size_t i = 0; r == 0 && i < n; i++) {
		struct range part = parts[i];
		bool grows = move->bytes && part.end == until && move->new_bytes > move->bytes;
		uint64_t offset = part.start - move->from;

		if (offset >= move->new_bytes)
			continue;
		part.end = move->to + (grows ? move->new_bytes : part.end - move->from);
		part.start = move->to + offset;
		if (part.end > move->to + move->new_bytes)
			part.end = move->to + move->new_bytes;
		r = ranges_insert(set, &part, sink);
	}
	return r;
}
