/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An expression, prepared for points of one shape: the variables of the point that each of its
 * variables can be; and for each assignment that the shape does not exclude, the remaining
 * comparisons with the words to compare. A query makes one plan per shape, so points only have to
 * be compared.
 */
#pragma once

#include "reader/query/query-value.h"

/* That all plans of a side have. */
enum { QUERY_STEPS_MAX = 1 << 20 };

struct query_step;

/* The expression, and the point for which plans are made. */
struct query_side {
	const struct query_expression *e;
	const struct tracedb_dictionary *dictionary;
	const uint32_t *conjuncts; /* nodes that must all be true */
	size_t n_conjuncts;
	bool earlier;
	/* The variables that belong to this point, and their candidates. */
	uint32_t variables[QUERY_VARIABLES_MAX];
	size_t n_variables;
	bool *types[QUERY_VARIABLES_MAX]; /* their possible types, by number; NULL = all; owned */
	size_t steps_left;                /* the number of steps that can still be added */
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
 * Calls FN for each assignment for which SIDE is true for the point of that side in C, which has
 * the shape of P. BOUND is C's assignment. Stops when FN returns a value other than 0, and returns
 * it.
 */
typedef int (*query_plan_fn)(void *userdata);
int query_plan_run(const struct query_plan *p, const struct query_side *side,
		   const struct query_context *c, uint32_t *bound, query_plan_fn fn,
		   void *userdata);
