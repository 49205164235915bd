/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that the variables in an expression exist in the trace. Also checks, for each variable,
 * that some point has the value, the size or the text that the expression compares. If no point has
 * it, the comparison is always false. Such a mistake must be reported, since an empty result would
 * hide it.
 */
#pragma once

#include "reader/query/query-expression.h"
#include "reader/tracedb/tracedb-store.h"
#include "writer/tracedb/tracedb-model.h"

enum { QUERY_NAME_MAX = 32 };

struct query_names {
	bool seen[QUERY_VARIABLES_MAX]; /* for each variable of the expression: the trace has it */
	unsigned distance[QUERY_VARIABLES_MAX];
	char nearest[QUERY_VARIABLES_MAX][QUERY_NAME_MAX]; /* "" = no similar name */
	/* Formats of the values of each variable: bits 1 << enum tracedb_format */
	unsigned formats[QUERY_VARIABLES_MAX];
	uint32_t n_shapes; /* number of shapes of the store that were added */
};

/* Adds the names of DICTIONARY, for the variables of E. */
void query_names_add(struct query_names *n, const struct query_expression *e,
		     const struct tracedb_dictionary *dictionary);

/*
 * Reports on stderr which variables of E no point of the trace NAME has. Returns CLI_FAILED if
 * there are any, else CLI_OK. HAS_BLOCKS: allocations were recorded; if not, the message gives this
 * as the reason for a missing `address` or `bytes`.
 */
int query_names_complain(const struct query_names *n, const struct query_expression *e,
			 const char *name, bool has_blocks);

/*
 * Adds the kinds of values that the points of STORE have. Must be called again when STORE has new
 * points.
 */
void query_names_add_values(struct query_names *n, const struct query_expression *e,
			    const struct tracedb_dictionary *dictionary,
			    const struct tracedb_store *store);

/*
 * Reports on stderr the variables of E for which no point of the trace NAME has the value, the size
 * or the text that E compares. Returns whether there are any.
 */
bool query_names_say_valueless(const struct query_names *n, const struct query_expression *e,
			       const char *name);
