/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Expressions evaluated for one assignment of a point's variables, exactly: integers of 128 bits,
 * and fractions of any size where these do not suffice.
 */
#pragma once

#include "reader/query/query-expression.h"
#include "reader/tracedb/tracedb-store.h"

/* Auxiliary data that kymo writes. */
enum {
	QUERY_AUXILIARY_TIME,
	QUERY_AUXILIARY_THREAD, /* thread; the upper half is the process */
};

/* The name of a statement, or NULL. */
typedef const char *(*query_function_fn)(const void *userdata, uint64_t statement);

struct query_point {
	const struct tracedb_row *row;
	const struct tracedb_shape *shape;
};

/* The points and assignments for which an expression is evaluated. */
struct query_context {
	const struct query_expression *e;
	const struct tracedb_dictionary *dictionary;
	const struct tracedb_store *store;
	query_function_fn function; /* names of statements; NULL = statements have no names */
	const void *function_userdata;
	struct query_point points[QUERY_SIDES]; /* the point, the earlier ones, that of b/ */
	/* for each variable of the expression, the index of the point's variable */
	const uint32_t *bound;
};

/* Returns true if the node AT, a truth value, is true. */
bool query_is_true(const struct query_context *c, uint32_t at);

/*
 * A key for the number or text at node AT. Equal values have equal keys, and different values
 * rarely do. A key is never 0. Returns false if there is no value.
 */
bool query_key(const struct query_context *c, uint32_t at, uint64_t *ret);

static inline const struct query_point *query_point_of(const struct query_context *c,
						       uint32_t variable)
{
	return &c->points[c->e->variables[variable].point];
}

static inline const struct tracedb_slot *query_slot(const struct query_context *c,
						    uint32_t variable)
{
	return &query_point_of(c, variable)->shape->slots[c->bound[variable]];
}

/*
 * Returns true if a comparison of KIND is true for two values whose difference has the sign SIGN.
 */
static inline bool query_compare(enum query_kind kind, int sign)
{
	switch (kind) {
	case QUERY_GT:
		return sign > 0;
	case QUERY_GE:
		return sign >= 0;
	case QUERY_LT:
		return sign < 0;
	case QUERY_LE:
		return sign <= 0;
	default:
		return sign == 0;
	}
}
