/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/query/query-join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The maximum number of earlier points of a query, with their variables: 1 GiB. */
enum { EARLIER_MAX = 1 << 25 };

enum { ONLY_LATER = 1, ONLY_EARLIER = 2 };

unsigned query_join_points(const struct query_expression *e, uint32_t at)
{
	const struct query_node *node = &e->nodes[at];
	const uint32_t *children = query_children(e, node);
	unsigned points = 0;

	switch (node->kind) {
	case QUERY_TRUE:
	case QUERY_NUMBER:
	case QUERY_TEXT:
		return 0;
	case QUERY_VALUE:
	case QUERY_SIZE:
	case QUERY_NAME:
	case QUERY_TYPE:
	case QUERY_CONTENT:
	case QUERY_FUNCTION:
	case QUERY_STATEMENT:
	case QUERY_TIME:
	case QUERY_PROCESS:
	case QUERY_THREAD:
		return node->earlier ? ONLY_EARLIER : ONLY_LATER;
	case QUERY_DISTINCT:
		for (uint32_t i = 0; i < node->n; i++)
			points |= e->variables[children[i]].earlier ? ONLY_EARLIER : ONLY_LATER;
		return points;
	default:
		for (uint32_t i = 0; i < node->n; i++)
			points |= query_join_points(e, children[i]);
		return points;
	}
}

void query_join_find_key(struct query_join *j, const struct query_expression *e, uint32_t conjunct)
{
	const struct query_node *node = &e->nodes[conjunct];
	unsigned first, second;

	if (j->keyed || (node->kind != QUERY_EQ && node->kind != QUERY_IS))
		return;
	first = query_join_points(e, e->children[node->first]);
	second = query_join_points(e, e->children[node->first + 1]);
	j->keyed = (first == ONLY_LATER && second == ONLY_EARLIER) ||
		   (first == ONLY_EARLIER && second == ONLY_LATER);
	j->later_key = e->children[node->first + (first == ONLY_EARLIER)];
	j->earlier_key = e->children[node->first + (first == ONLY_LATER)];
}

int query_join_add(struct query_join *j, const struct query_context *c, const uint32_t *bound,
		   size_t n)
{
	const struct tracedb_row *row = c->points[true].row;
	uint64_t key = 1;

	if (j->keyed && !query_key(c, j->earlier_key, &key))
		return 0;
	if (j->n == EARLIER_MAX)
		return -E2BIG;
	if (GROW(j->list, j->room, j->n + 1) < 0 ||
	    GROW(j->bound, j->bound_room, (j->n + 1) * n + 1) < 0)
		return -ENOMEM;
	j->list[j->n] = (struct query_earlier){
		.point = row->point,
		.word = row->word,
		.previous = (uint32_t)(uintptr_t)table_get(&j->newest, key),
	};
	memcpy(j->bound + j->n * n, bound, n * sizeof(*bound));
	if (table_set(&j->newest, key, (void *)(j->n + 1)) < 0)
		return -ENOMEM;
	j->n++;
	return 0;
}

size_t query_join_newest(const struct query_join *j, const struct query_context *c)
{
	uint64_t key = 1;

	return j->keyed && !query_key(c, j->later_key, &key)
		       ? 0
		       : (uintptr_t)table_get(&j->newest, key);
}

void query_join_deinit(struct query_join *j)
{
	free(j->list);
	free(j->bound);
	table_deinit(&j->newest);
}
