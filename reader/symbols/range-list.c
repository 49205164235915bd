/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/range-list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"

#define NO_ITEM UINT32_MAX

void range_list_deinit(struct range_list *l)
{
	free(l->items);
	free(l->pieces);
	*l = (struct range_list){ 0 };
}

int range_list_add(struct range_list *l, uint64_t start, uint64_t end, uint32_t value,
		   uint32_t rank)
{
	if (GROW(l->items, l->room, l->n + 1) < 0)
		return -ENOMEM;
	l->items[l->n++] =
		(struct range){ .start = start, .end = end, .value = value, .rank = rank };
	return 0;
}

DEFINE_ORDER(range_list_compare, struct range,
	COMPARE(x->start, y->start) ?: COMPARE(y->rank, x->rank) ?: COMPARE(y->end, x->end)
		?: COMPARE(y->value, x->value))

static void range_list_add_piece(struct range_list *l, uint64_t start, uint32_t item)
{
	struct range_piece *last = l->n_pieces ? &l->pieces[l->n_pieces - 1] : NULL;

	if (last && last->start == start)
		last->item = item;
	else if (!last || last->item != item)
		l->pieces[l->n_pieces++] = (struct range_piece){ .start = start, .item = item };
}

/*
 * Removes the ranges that end at POSITION or before from the stack of N ranges, and adds pieces for
 * the ranges that become innermost. Returns the new number of ranges.
 */
static size_t range_list_uncover(struct range_list *l, const uint32_t *stack, size_t n,
				 uint64_t position)
{
	while (n > 0 && l->items[stack[n - 1]].end <= position) {
		uint64_t end = l->items[stack[--n]].end;

		/* Ranges below this one on the stack can have ended before it. */
		while (n > 0 && l->items[stack[n - 1]].end <= end)
			n--;
		range_list_add_piece(l, end, n > 0 ? stack[n - 1] : NO_ITEM);
	}
	return n;
}

/*
 * Makes the pieces in one pass over the items, which are sorted by start: the open items form a
 * stack, with later starts on top.
 */
static int range_list_make_pieces(struct range_list *l)
{
	_cleanup_free_ uint32_t *stack = NULL;
	size_t n = 0;

	free(l->pieces);
	l->n_pieces = 0;
	l->pieces = NULL;
	if (l->n == 0)
		return 0;
	if (l->n >= NO_ITEM / 2)
		return -ENOMEM;
	stack = reallocarray(NULL, l->n, sizeof(*stack));
	l->pieces = reallocarray(NULL, 2 * l->n, sizeof(*l->pieces));
	if (!stack || !l->pieces)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->n; i++) {
		const struct range *item = &l->items[i];

		if (item->end <= item->start)
			continue;
		n = range_list_uncover(l, stack, n, item->start);
		range_list_add_piece(l, item->start, i);
		stack[n++] = i;
	}
	range_list_uncover(l, stack, n, UINT64_MAX);
	return 0;
}

/* Releases unused memory. */
static void range_list_shrink(struct range_list *l)
{
	struct range *items = reallocarray(l->items, l->n ? l->n : 1, sizeof(*items));
	struct range_piece *pieces =
		reallocarray(l->pieces, l->n_pieces ? l->n_pieces : 1, sizeof(*pieces));

	if (items) {
		l->items = items;
		l->room = l->n ? l->n : 1;
	}
	if (pieces)
		l->pieces = pieces;
}

int range_list_sort(struct range_list *l)
{
	int r;

	SORT(l->items, l->n, range_list_compare);
	r = range_list_make_pieces(l);
	range_list_shrink(l);
	return r;
}

const struct range *range_list_find(const struct range_list *l, uint64_t address)
{
	size_t next = ARRAY_FIRST(i, 0, l->n_pieces, l->pieces[i].start > address);

	if (next == 0 || l->pieces[next - 1].item == NO_ITEM)
		return NULL;
	return &l->items[l->pieces[next - 1].item];
}

size_t range_list_bytes(const struct range_list *l)
{
	return l->room * sizeof(*l->items) + l->n_pieces * sizeof(*l->pieces);
}
