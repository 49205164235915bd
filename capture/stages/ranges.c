/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

void ranges_deinit(struct ranges *r)
{
	r->list = free_ptr(r->list);
	r->n = r->room = 0;
}

struct range *ranges_from(const struct ranges *r, uint64_t address)
{
	return r->list + ARRAY_FIRST(i, 0, r->n, r->list[i].end > address);
}

static void ranges_notify(const struct ranges_sink *sink, const struct range *range, bool made)
{
	if (sink && sink->changed)
		sink->changed(range, made, sink->userdata);
}

/* Inserts RANGE, which overlaps no other one. */
static int ranges_insert(struct ranges *r, const struct range *range,
			 const struct ranges_sink *sink)
{
	struct range *at;
	int error;

	if (range->start >= range->end)
		return 0;
	if (r->n_max && r->n >= r->n_max) {
		r->n_full++;
		return 0;
	}
	error = GROW(r->list, r->room, r->n + 1);
	if (error < 0)
		return error;
	at = ranges_from(r, range->start);
	memmove(at + 1, at, (size_t)(r->list + r->n - at) * sizeof(*at));
	*at = *range;
	r->n++;
	ranges_notify(sink, range, true);
	return 0;
}

static void ranges_remove_at(struct ranges *r, struct range *at)
{
	memmove(at, at + 1, (size_t)(r->list + r->n - at - 1) * sizeof(*at));
	r->n--;
}

/* Inserts the rest of WAS without START to END. */
static int ranges_put_back(struct ranges *r, const struct range *was, uint64_t start, uint64_t end,
			   const struct ranges_sink *sink)
{
	struct range left = *was, right = *was;
	int error;

	left.end = was->end < start ? was->end : start;
	right.start = was->start > end ? was->start : end;
	error = ranges_insert(r, &left, sink);
	return error < 0 ? error : ranges_insert(r, &right, sink);
}

int ranges_remove(struct ranges *r, uint64_t start, uint64_t end, uint64_t until_ns,
		  const struct ranges_sink *sink)
{
	int error = 0;

	while (error == 0 && start < end) {
		struct range *at = ranges_from(r, start), was;

		if (at == r->list + r->n || at->start >= end)
			break;
		was = *at;
		if (was.origin.since_ns <= until_ns) {
			ranges_remove_at(r, at);
			ranges_notify(sink, &was, false);
			error = ranges_put_back(r, &was, start, end, sink);
		}
		start = was.end;
	}
	return error;
}

int ranges_add(struct ranges *r, const struct range *range, const struct ranges_sink *sink)
{
	int error = ranges_remove(r, range->start, range->end, UINT64_MAX, sink);

	return error < 0 ? error : ranges_insert(r, range, sink);
}

/* Copies the parts of ranges that MOVE affects. The caller frees them. */
static int ranges_copy_parts(const struct ranges *r, const struct ranges_move *move,
			     struct range **ret, size_t *ret_n)
{
	uint64_t end = move->from + (move->bytes ? move->bytes : move->new_bytes);
	const struct range *at = ranges_from(r, move->from);
	struct range *parts = NULL;
	size_t n = 0, room = 0;

	for (; at < r->list + r->n && at->start < end; at++) {
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

int ranges_move(struct ranges *r, const struct ranges_move *move, const struct ranges_sink *sink)
{
	_cleanup_free_ struct range *parts = NULL;
	uint64_t until = move->from + move->bytes;
	size_t n = 0;
	int error = ranges_copy_parts(r, move, &parts, &n);

	/* With 0 bytes, mremap() makes another view of the same memory. */
	if (error == 0 && move->bytes && !move->keep)
		error = ranges_remove(r, move->from, until, move->begun_ns, sink);
	if (error == 0)
		error = ranges_remove(r, move->to, move->to + move->new_bytes, UINT64_MAX, sink);
	for (size_t i = 0; error == 0 && i < n; i++) {
		struct range part = parts[i];
		bool grows = move->bytes && part.end == until && move->new_bytes > move->bytes;
		uint64_t offset = part.start - move->from;

		if (offset >= move->new_bytes)
			continue;
		part.end = move->to + (grows ? move->new_bytes : part.end - move->from);
		part.start = move->to + offset;
		if (part.end > move->to + move->new_bytes)
			part.end = move->to + move->new_bytes;
		error = ranges_insert(r, &part, sink);
	}
	return error;
}
