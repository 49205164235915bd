/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/symbols/range-list.h"

#include <errno.h>
#include <stdlib.h>

/* Functions lie in each other a few times at most; only a hostile file has more. */
enum { FIRST_ROOM = 64, STEPS_MAX = 256 };

void range_list_deinit(struct range_list *l)
{
	free(l->items);
	*l = (struct range_list){ 0 };
}

int range_list_add(struct range_list *l, uint64_t start, uint64_t end, uint32_t value,
		   uint32_t rank)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : FIRST_ROOM;
		struct range *items = reallocarray(l->items, room, sizeof(*items));

		if (!items)
			return -ENOMEM;
		l->items = items;
		l->room = room;
	}
	l->items[l->n++] =
		(struct range){ .start = start, .end = end, .value = value, .rank = rank };
	return 0;
}

/* The one to be found first stands last: a search goes backwards. */
static int compare(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->value > b->value ? -1 : a->value < b->value;
}

void range_list_sort(struct range_list *l)
{
	struct range *items;
	uint64_t reach = 0;

	if (l->n == 0)
		return;
	qsort(l->items, l->n, sizeof(*l->items), compare);
	for (size_t i = 0; i < l->n; i++) {
		if (l->items[i].end > reach)
			reach = l->items[i].end;
		l->items[i].reach = reach;
	}
	items = reallocarray(l->items, l->n, sizeof(*items));
	if (items) {
		l->items = items;
		l->room = l->n;
	}
}

/* How many start at or before ADDRESS. */
static size_t count_before(const struct range_list *l, uint64_t address)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct range *range_list_find(const struct range_list *l, uint64_t address)
{
	size_t i = count_before(l, address);

	for (size_t steps = 0; i > 0 && steps < STEPS_MAX; steps++) {
		const struct range *range = &l->items[--i];

		if (range->reach <= address)
			return NULL;
		if (range->end > address)
			return range;
	}
	return NULL;
}

const struct range *range_list_after(const struct range_list *l, uint64_t address)
{
	size_t i = count_before(l, address);

	return i < l->n ? &l->items[i] : NULL;
}
