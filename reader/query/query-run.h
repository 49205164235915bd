/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A query over the points of a store: all assignments of a point's variables to those of the
 * expression for which it is true. Numbers are exact: integers of any size, and fractions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reader/query/query-expression.h"
#include "reader/tracedb/tracedb-store.h"

enum { QUERY_SOFTS_MAX = 16 };

struct query {
	struct query_expression expression;
	uint32_t hard;                   /* the node that must be true */
	uint32_t softs[QUERY_SOFTS_MAX]; /* of each point the assignments remain that fulfil most */
	size_t n_softs;
	uint64_t mask, statement; /* only points whose statement & mask is `statement` */
	uint32_t seed;            /* not 0: one of these points, by chance */
	bool keep_duplicates;     /* also where statement, names and types are the same */
	uint64_t limit;           /* of results; 0 = none */
	/* The name of a statement, or NULL; NULL = no statement has one. */
	const char *(*function)(const void *userdata, uint64_t statement);
	const void *function_userdata;
};

/* An assignment that fulfils it. */
struct query_result {
	size_t point; /* its number, from 0 */
	const struct tracedb_stored_point *of;
	const uint32_t *bound; /* by variable of the expression: which of the point's */
};

typedef int (*query_result_fn)(void *userdata, const struct query_result *result);

/*
 * Calls FN for each result until it returns something else than 0, which is returned. DICTIONARY is
 * that of the store. Returns 0; -EINVAL (a type of a free variable that the trace has not, -E2BIG
 * (too many assignments for a point), both with ERROR; or -ENOMEM.
 */
int query_run(const struct query *q, const struct tracedb_store *store,
	      const struct tracedb_dictionary *dictionary, query_result_fn fn, void *userdata,
	      struct query_error *error);

void query_deinit(struct query *q);
