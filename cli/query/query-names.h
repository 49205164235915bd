/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that the variables in an expression exist in the trace. An unknown name is a mistake,
 * which an empty result would hide.
 */
#pragma once

#include "reader/query/query-expression.h"
#include "writer/tracedb/tracedb-model.h"

enum { QUERY_NAME_MAX = 32 };

struct query_names {
	bool seen[QUERY_VARIABLES_MAX]; /* of the variables of an expression */
	unsigned distance[QUERY_VARIABLES_MAX];
	char nearest[QUERY_VARIABLES_MAX][QUERY_NAME_MAX]; /* "" = no similar name */
};

/* Adds the names of DICTIONARY, for the variables of E. */
void query_names_add(struct query_names *n, const struct query_expression *e,
		     const struct tracedb_dictionary *dictionary);

/*
 * Reports on stderr which variable of E no point of the trace NAME has, and then returns
 * CLI_FAILED, else CLI_OK. HAS_BLOCKS: allocations were recorded; if not, the message gives this as
 * the reason for a missing `address` or `bytes`.
 */
int query_names_complain(const struct query_names *n, const struct query_expression *e,
			 const char *name, bool has_blocks);
