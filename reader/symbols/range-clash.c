/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/range-clash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/table.h"

/* The begin or the end of a range. */
struct edge {
	uint64_t at, name;
	bool begins;
};

/* The ranges that are open at a position, while all edges are visited in order. */
struct sweep {
	struct table open; /* hash of a name -> number of open ranges with this name */
	uint64_t since;    /* since this position, ranges with more than one name are open */
};

DEFINE_ORDER(range_clash_compare, struct edge,
	     COMPARE(x->at, y->at) ?: COMPARE(x->begins, y->begins))

void range_clashes_deinit(struct range_clashes *c)
{
	free(c->list);
	*c = (struct range_clashes){ 0 };
}

static int range_clash_add(struct range_clashes *c, uint64_t start, uint64_t end)
{
	if (start == end)
		return 0;
	if (GROW(c->list, c->room, c->n + 1) < 0)
		return -ENOMEM;
	c->list[c->n++] = (struct range_clash){ start, end };
	return 0;
}

static int range_clash_pass(struct range_clashes *c, struct sweep *s, const struct edge *edge)
{
	uintptr_t open = (uintptr_t)table_get(&s->open, edge->name);
	size_t before = s->open.n_used;

	open = edge->begins ? open + 1 : open - 1;
	if (open == 0)
		table_remove(&s->open, edge->name);
	else if (table_set(&s->open, edge->name, (void *)open) < 0)
		return -ENOMEM;
	if (before <= 1 && s->open.n_used > 1)
		s->since = edge->at;
	else if (before > 1 && s->open.n_used <= 1)
		return range_clash_add(c, s->since, edge->at);
	return 0;
}

/* Finds the clashes among N ranges, each of which overlaps with others of them. */
static int range_clash_sweep(struct range_clashes *c, const struct range *items, size_t n,
			     const char *names)
{
	_cleanup_free_ struct edge *edges = reallocarray(NULL, n, 2 * sizeof(*edges));
	struct sweep sweep = { 0 };
	int r = 0;

	if (!edges)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *name = names + items[i].value;
		uint64_t hash = table_hash(name, strlen(name));

		edges[2 * i] = (struct edge){ items[i].start, hash, true };
		edges[2 * i + 1] = (struct edge){ items[i].end, hash, false };
	}
	SORT(edges, 2 * n, range_clash_compare);
	for (size_t i = 0; r == 0 && i < 2 * n; i++)
		r = range_clash_pass(c, &sweep, &edges[i]);
	table_deinit(&sweep.open);
	return r;
}

int range_clashes_find(struct range_clashes *c, const struct range_list *l, const char *names)
{
	size_t n;
	int r = 0;

	for (size_t i = 0; r == 0 && i < l->n; i += n) {
		uint64_t end = l->items[i].end;

		for (n = 1; i + n < l->n && l->items[i + n].start < end; n++)
			if (l->items[i + n].end > end)
				end = l->items[i + n].end;
		if (n > 1)
			r = range_clash_sweep(c, &l->items[i], n, names);
	}
	return r;
}

bool range_clashes_at(const struct range_clashes *c, uint64_t address)
{
	size_t next = ARRAY_FIRST(i, 0, c->n, c->list[i].start > address);

	return next > 0 && address < c->list[next - 1].end;
}
