/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A plan is an expression that is prepared for points of one shape. It has the variables of the
 * point that each variable of the expression can be; and for each assignment that the shape does
 * not exclude, the remaining comparisons with the words to compare. A query makes one plan per
 * shape, so that for each point, only words must be compared.
 */
#pragma once

#include "reader/query/query-value.h"

enum {
	/* The maximum number of steps that all plans of a side have. */
	QUERY_STEPS_MAX = 1 << 20,
	/* The maximum number of assignments that are tried for one point. */
	QUERY_ASSIGNMENTS_MAX = 1 << 24,
};

/* The maximum number of assignments that a query tries without a plan. */
#define QUERY_TRIES_MAX (UINT64_C(1) << 30)

struct query_step;

/* The expression, and the point for which plans are made. */
struct query_side {
	const struct query_expression *e;
	const struct tracedb_dictionary *dictionary;
	const uint32_t *conjuncts; /* nodes that must all be true */
	size_t n_conjuncts;
	unsigned point; /* 0 = the point, 1 = the one of e/, and so on */
	/*
	 * The variables of the expression that belong to the point of this side, and the types that
	 * they can have.
	 */
	uint32_t variables[QUERY_VARIABLES_MAX];
	size_t n_variables;
	/* Possible types of each variable, by number; NULL = all; owned. */
	bool *types[QUERY_VARIABLES_MAX];
	size_t steps_left;   /* number of steps that can still be added */
	uint64_t tries_left; /* number of assignments that can still be tried without a plan */
};

struct query_plan {
	bool made;
	/* The expression is false for all points of this shape. */
	bool never;
	/* There are too many assignments, so each is tried for each point. */
	bool unprepared;
	/* Possible variables of the point, by variable of the side; owned. */
	uint32_t *members[QUERY_VARIABLES_MAX];
	uint32_t n_members[QUERY_VARIABLES_MAX];
	/*
	 * For each remaining assignment: the variables of the point, and the first of its
	 * comparisons.
	 */
	uint32_t *assignments; /* owned, like the members below */
	size_t n_assignments, assignments_room;
	struct query_step *steps;
	size_t n_steps, steps_room;
};

/*
 * Prepares SIDE for the point or an earlier one. E, DICTIONARY and CONJUNCTS are borrowed. Returns
 * 0, -EINVAL with ERROR (the trace has no such type), or -ENOMEM; query_side_deinit() in any case.
 */
int query_side_init(struct query_side *side, const struct query_expression *e,
		    const struct tracedb_dictionary *dictionary, unsigned point,
		    struct query_error *error);
void query_side_deinit(struct query_side *side);

/*
 * Makes P for SHAPE. Returns 0; -E2BIG with ERROR, if one point has too many assignments; or
 * -ENOMEM.
 */
int query_plan_make(struct query_plan *p, struct query_side *side,
		    const struct tracedb_shape *shape, struct query_error *error);
void query_plan_deinit(struct query_plan *p);

/* Receives an assignment. A value other than 0 ends query_plan_run(). */
typedef int (*query_plan_fn)(void *userdata);

/*
 * Calls FN for each assignment for which the conjuncts are true. Returns the result of FN, or
 * -ERANGE if all runs of SIDE have tried too many assignments.
 */
int query_plan_run(const struct query_plan *p, struct query_side *side,
		   const struct query_context *c, uint32_t *bound, query_plan_fn fn,
		   void *userdata);
