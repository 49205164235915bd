/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The candidates for one earlier point of a query that joins points. A point is kept only if all
 * conditions about it alone are true, together with the assignments for which they are true. If the
 * expression compares a value of this point with a value of later points by `=`, or a text by `is`,
 * only points with an equal value are found.
 */
#pragma once

#include "base/table.h"
#include "reader/query/query-value.h"

struct query_earlier {
	size_t point, word; /* cursor to the row of the point */
	/* Number + 1 of the previous point with the same key; 0 = no such point. */
	uint32_t previous;
	/* Number + 1 of the newest candidate for the next earlier point, if known; otherwise 0. */
	uint32_t before;
};

struct query_join {
	bool keyed;                      /* the expression compares a value with later points: */
	uint32_t later_key, earlier_key; /* nodes of the two values */
	/* The candidates depend on the next point alone. */
	bool follows;
	struct query_earlier *list; /* owned, like `bound` */
	uint32_t *bound;            /* assignments of the points, consecutive */
	size_t n, room, bound_room;
	struct table newest; /* key -> number + 1 of the newest point with that key */
};

/* Searches CONJUNCT for a comparison of earlier point POINT with later ones. */
void query_join_find_key(struct query_join *j, const struct query_expression *e, uint32_t conjunct,
			 unsigned point);

/* Returns the points that node AT of E refers to: bits 1 << number, where 0 is the point itself. */
unsigned query_join_points(const struct query_expression *e, uint32_t at);

/*
 * Adds TO_ADD, with its N variables BOUND, if it has the value that is compared. The point is in C.
 * Returns 1 if it was added, 0 if not, or -ENOMEM.
 */
int query_join_add(struct query_join *j, const struct query_context *c,
		   const struct query_earlier *to_add, const uint32_t *bound, size_t n);

/* Returns the newest candidate, by number + 1, for the later points of C; 0 = none. */
size_t query_join_newest(const struct query_join *j, const struct query_context *c);

void query_join_deinit(struct query_join *j);
