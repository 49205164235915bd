/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The variables that an expression names, and the points that have them: a name that no point has
 * is a mistake, and an empty result would hide it.
 */
#pragma once

#include "reader/query/query-expression.h"
#include "writer/tracedb/tracedb-model.h"

enum { QUERY_NAME_MAX = 32 };

struct query_names {
	bool seen[QUERY_VARIABLES_MAX]; /* of the variables of an expression */
	unsigned distance[QUERY_VARIABLES_MAX];
	char nearest[QUERY_VARIABLES_MAX][QUERY_NAME_MAX]; /* "" = none is near */
};

/* Takes the names of DICTIONARY in, for the variables of E. */
void query_names_take(struct query_names *n, const struct query_expression *e,
		      const struct tracedb_dictionary *dictionary);

/*
 * Says on stderr which variable of E no point of the trace NAME has: then it returns CLI_FAILED,
 * else CLI_OK. HAS_BLOCKS: if variables of allocations were missing, this would not be the reason.
 */
int query_names_complain(const struct query_names *n, const struct query_expression *e,
			 const char *name, bool has_blocks);
