/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A query over the points of a store: all assignments of a point's variables to the variables of
 * the expression for which it is true. Numbers are exact: integers of any size, and fractions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reader/query/query-value.h"

enum { QUERY_SOFTS_MAX = 16 };

/* The maximum number of earlier points that a query tries. */
#define QUERY_PAIRS_MAX (UINT64_C(1) << 28)

/* The maximum number of earlier points that a query keeps, with their variables: 1 GiB. */
#define QUERY_EARLIER_MAX (UINT64_C(1) << 25)

struct query {
	struct query_expression expression;
	uint32_t hard; /* the node that must be true */
	/*
	 * Of the results of a point, those remain that satisfy the largest number of these
	 * predicates.
	 */
	uint32_t softs[QUERY_SOFTS_MAX];
	size_t n_softs;
	uint64_t mask, statement; /* only points with (statement & mask) == `statement` match */
	uint32_t seed;            /* if not 0: one of the matching points, chosen at random */
	/* Keep results with the same statement, names and types as an earlier result. */
	bool keep_duplicates;
	uint64_t limit;             /* maximum number of results; 0 = no limit */
	uint64_t tries_max;         /* of assignments that are tried; 0 = QUERY_TRIES_MAX */
	uint64_t pairs_max;         /* of earlier points that are tried; 0 = QUERY_PAIRS_MAX */
	uint64_t earlier_max;       /* of earlier points that are kept; 0 = QUERY_EARLIER_MAX */
	query_function_fn function; /* NULL = no statement has a name */
	const void *function_userdata;
	/*
	 * If not NULL: for each point, adds the number of assignments that fulfil the conditions
	 * about this point alone. [QUERY_SIDES]
	 */
	uint64_t *n_candidates;
};

/* An earlier point of a result: the last one for which the query is true. */
struct query_result_earlier {
	size_t number; /* number of the point, from 0 */
	struct tracedb_stored_point of;
};

/* An assignment for which the query is true. */
struct query_result {
	size_t point; /* number of the point, from 0 */
	const struct tracedb_stored_point *of;
	/* For each variable of the expression, the index of the variable in its point. */
	const uint32_t *bound;
	/* If the expression joins points: those of e/, e2/ and so on. */
	const struct query_result_earlier *earlier;
	unsigned n_earlier;
};

/* Returns the variable of R that VARIABLE of E is assigned to. */
static inline const struct tracedb_variable *query_result_variable(const struct query_expression *e,
								   const struct query_result *r,
								   size_t variable)
{
	unsigned point = e->variables[variable].point; /* not QUERY_BETWEEN */

	return &(point ? &r->earlier[point - 1].of : r->of)->variables[r->bound[variable]];
}

typedef int (*query_result_fn)(void *userdata, const struct query_result *result);

/*
 * Calls FN for each result until FN returns a value other than 0, and then returns that value.
 * DICTIONARY belongs to the store. Returns 0; -EINVAL (the trace lacks the type of a free variable)
 * or -E2BIG (too many assignments for a point, or joined points), both with ERROR; or -ENOMEM.
 */
int query_run(const struct query *q, const struct tracedb_store *store,
	      const struct tracedb_dictionary *dictionary, query_result_fn fn, void *userdata,
	      struct query_error *error);

/*
 * A search runs a query on a store that grows: it handles the new points. It cannot pick a point at
 * random.
 */
struct query_search;

int query_search_new(struct query_search **ret, const struct query *q,
		     const struct tracedb_dictionary *dictionary, query_result_fn fn,
		     void *userdata, struct query_error *error);

/* Handles the new points of STORE. Returns like query_run(). */
int query_search_run(struct query_search *s, const struct tracedb_store *store,
		     struct query_error *error);

/*
 * Must be called when the store was cleared. SHAPES: its shapes were cleared, too. The store must
 * not be cleared for a query that joins points, since such a query needs the earlier points.
 */
void query_search_cleared(struct query_search *s, bool shapes);

/* Returns true if the limit of results is reached. */
bool query_search_is_over(const struct query_search *s);

struct query_search *query_search_free(struct query_search *s);
DEFINE_CLEANUP(struct query_search *, query_search_free)

void query_deinit(struct query *q);
