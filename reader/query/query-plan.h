/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an expression comes to for points of one shape: which variables of the point each of its
 * variables may be, and, for each assignment that the shape does not rule out, the comparisons that
 * are left, with the words that they compare. A query makes one for each shape, so that points are
 * only compared.
 */
#pragma once

#include "reader/query/query-value.h"

/* That all plans of a side have. */
enum { QUERY_STEPS_MAX = 1 << 20 };

struct query_step;

/* The expression, and the point of it that plans are made for. */
struct query_side {
	const struct query_expression *e;
	const struct tracedb_dictionary *dictionary;
	const uint32_t *conjuncts; /* nodes that must all be true */
	size_t n_conjuncts;
	bool earlier;
	/* Which variables are of this point, and what they may be. */
	uint32_t variables[QUERY_VARIABLES_MAX];
	size_t n_variables;
	bool *types[QUERY_VARIABLES_MAX]; /* likewise; by number; NULL = all. Owned */
	size_t steps_left;                /* so many more may be kept */
};

struct query_plan {
	bool made;
	bool never;                             /* no point of this shape fulfils it */
	bool unprepared;                        /* assignments are too many: each is tried */
	uint32_t *members[QUERY_VARIABLES_MAX]; /* by variable of the side. Owned */
	uint32_t n_members[QUERY_VARIABLES_MAX];
	/* Of each assignment that is left: which variables, and where its comparisons begin. */
	uint32_t *assignments; /* owned, as is... */
	size_t n_assignments, assignments_room;
	struct query_step *steps;
	size_t n_steps, steps_room;
};

/*
 * Prepares SIDE for the point or the EARLIER one. E, DICTIONARY and CONJUNCTS are borrowed. Returns
 * 0, -EINVAL with ERROR (the trace has no such type), or -ENOMEM; query_side_deinit() in any case.
 */
int query_side_init(struct query_side *side, const struct query_expression *e,
		    const struct tracedb_dictionary *dictionary, bool earlier,
		    struct query_error *error);
void query_side_deinit(struct query_side *side);

/*
 * Makes P for SHAPE. Returns 0; -E2BIG with ERROR, if one point has too many assignments; or
 * -ENOMEM.
 */
int query_plan_make(struct query_plan *p, struct query_side *side,
		    const struct tracedb_shape *shape, struct query_error *error);
void query_plan_deinit(struct query_plan *p);

/*
 * Calls FN for each assignment for which SIDE is true of the point of that side in C, which has the
 * shape of P; BOUND is where C's assignment is. Ends when FN returns something else than 0, and
 * returns that.
 */
typedef int (*query_plan_fn)(void *userdata);
int query_plan_run(const struct query_plan *p, const struct query_side *side,
		   const struct query_context *c, uint32_t *bound, query_plan_fn fn,
		   void *userdata);
