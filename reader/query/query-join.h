/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The earlier points of a query that joins points: points for which all conditions that refer to
 * them alone are true, with the assignments for which they are. If the expression compares a value
 * of both points by `=`, or a text by `is`, only points with an equal value are found.
 */
#pragma once

#include "base/table.h"
#include "reader/query/query-value.h"

struct query_earlier {
	size_t point, word; /* a cursor to its row */
	uint32_t previous;  /* the previous one with the same key: its number + 1; 0 = none */
};

struct query_join {
	bool keyed;                      /* the expression compares a value of both: */
	uint32_t later_key, earlier_key; /* its nodes */
	struct query_earlier *list;      /* owned, as is... */
	uint32_t *bound;                 /* their assignments, consecutive */
	size_t n, room, bound_room;
	struct table newest; /* by key: number + 1 */
};

/* Searches CONJUNCT for a comparison of both points. */
void query_join_find_key(struct query_join *j, const struct query_expression *e, uint32_t conjunct);

/* The points that node AT of E concerns: 1 the point, 2 the earlier one, 3 both. */
unsigned query_join_points(const struct query_expression *e, uint32_t at);

/*
 * Adds the earlier point of C with its N variables BOUND. Returns 0, -E2BIG if there are more than
 * a query can keep, or -ENOMEM.
 */
int query_join_add(struct query_join *j, const struct query_context *c, const uint32_t *bound,
		   size_t n);

/* The newest point, by number + 1, that can be paired with the point of C; 0 = none. */
size_t query_join_newest(const struct query_join *j, const struct query_context *c);

void query_join_deinit(struct query_join *j);
