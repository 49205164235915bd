/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints results of queries, one per line.
 */
#pragma once

#include "cli/query/statement-table.h"
#include "cli/query/trace-points.h"
#include "reader/query/query-run.h"

struct query_print {
	const struct query_expression *expression;
	const struct tracedb_dictionary *dictionary; /* of the trace */
	/* Statements of an archive, or those of the table beside a trace-db file; else NULL. */
	const struct trace_statements *statements;
	const struct statement_table *table;
	const struct trace_points_space *space;
};

/* Print a result as text, and as one JSON object. */
void query_print_text(const struct query_print *p, const struct query_result *r);
void query_print_json(const struct query_print *p, const struct query_result *r);
