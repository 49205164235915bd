/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The earlier points of a query that joins points. A point is kept only if all conditions about the
 * earlier point alone are true, together with the assignments for which they are true. If the
 * expression compares a value of both points by `=`, or a text by `is`, only points with an equal
 * value are found.
 */
#pragma once

#include "base/table.h"
#include "reader/query/query-value.h"

struct query_earlier {
	size_t point, word; /* cursor to the row of the point */
	/* Number + 1 of the previous point with the same key; 0 = no such point. */
	uint32_t previous;
};

struct query_join {
	bool keyed;                      /* the expression compares a value of both points: */
	uint32_t later_key, earlier_key; /* nodes of the two values */
	struct query_earlier *list;      /* owned, like `bound` */
	uint32_t *bound;                 /* assignments of the points, consecutive */
	size_t n, room, bound_room;
	struct table newest; /* key -> number + 1 of the newest point with that key */
};

/* Searches CONJUNCT for a comparison of both points. */
void query_join_find_key(struct query_join *j, const struct query_expression *e, uint32_t conjunct);

/* Returns the points that node AT of E refers to: 1 the point, 2 the earlier one, 3 both. */
unsigned query_join_points(const struct query_expression *e, uint32_t at);

/*
 * Adds the earlier point of C with its N variables BOUND. Returns 0, -E2BIG if there are more than
 * a query can keep, or -ENOMEM.
 */
int query_join_add(struct query_join *j, const struct query_context *c, const uint32_t *bound,
		   size_t n);

/* Returns the newest point, by number + 1, that can be paired with the point of C; 0 = none. */
size_t query_join_newest(const struct query_join *j, const struct query_context *c);

void query_join_deinit(struct query_join *j);
