/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/query/query-join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

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
		return 1u << node->point;
	case QUERY_DISTINCT:
		for (uint32_t i = 0; i < node->n; i++)
			points |= 1u << e->variables[children[i]].point;
		return points;
	default:
		for (uint32_t i = 0; i < node->n; i++)
			points |= query_join_points(e, children[i]);
		return points;
	}
}

void query_join_find_key(struct query_join *j, const struct query_expression *e, uint32_t conjunct,
			 unsigned point)
{
	const struct query_node *node = &e->nodes[conjunct];
	const unsigned this = 1u << point;
	unsigned first, second, later;

	if (node->kind != QUERY_EQ && node->kind != QUERY_IS)
		return;
	first = query_join_points(e, e->children[node->first]);
	second = query_join_points(e, e->children[node->first + 1]);
	later = first == this ? second : first;
	if ((first != this && second != this) || later == 0 || later & this)
		return;
	/* (a value of the next point alone is best) */
	if (j->keyed && (j->follows || later != this >> 1))
		return;
	j->keyed = true;
	j->follows = later == this >> 1;
	j->earlier_key = e->children[node->first + (first != this)];
	j->later_key = e->children[node->first + (first == this)];
}

int query_join_add(struct query_join *j, const struct query_context *c,
		   const struct query_earlier *to_add, const uint32_t *bound, size_t n)
{
	uint64_t key = 1;

	if (j->keyed && !query_key(c, j->earlier_key, &key))
		return 0;
	if (GROW(j->list, j->room, j->n + 1) < 0 ||
	    GROW(j->bound, j->bound_room, (j->n + 1) * n + 1) < 0)
		return -ENOMEM;
	j->list[j->n] = *to_add;
	j->list[j->n].previous = (uint32_t)(uintptr_t)table_get(&j->newest, key);
	memcpy(j->bound + j->n * n, bound, n * sizeof(*bound));
	if (table_set(&j->newest, key, (void *)(j->n + 1)) < 0)
		return -ENOMEM;
	j->n++;
	return 1;
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
