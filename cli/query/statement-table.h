/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of statements beside a trace-db file, as `kymo export --format tracedb` writes it. It
 * has the suffix ".statements" in place of the suffix of the trace.
 */
#pragma once

#include "cli/query/trace-statements.h"

struct statement_table {
	struct trace_statement *list; /* owned; its texts are in... */
	size_t n, room;
	struct text_set texts; /* ... this set */
	struct table by_id;    /* id -> number in the list + 1 */
	bool found;            /* there is such a table */
};

/*
 * Reads the table beside the file TRACE, if there is one. Returns CLI_OK (also without a table);
 * CLI_DAMAGE, with a message, if only a part of it is readable; or CLI_FAILED, with a message.
 */
int statement_table_load(struct statement_table *t, const char *trace);
void statement_table_deinit(struct statement_table *t);

/* Returns the statement with this ID; NULL = it is not in the table. */
const struct trace_statement *statement_table_get(const struct statement_table *t, uint64_t id);
