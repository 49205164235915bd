/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo check of a trace-db file: checks if it is complete, and if other readers can read it.
 */
#pragma once

#include "cli/common/finding-counts.h"
#include "cli/common/open-trace.h"

enum tracedb_finding_id {
	TRACEDB_FINDING_DAMAGED,
	TRACEDB_FINDING_CONTAINER,
	TRACEDB_FINDING_NO_STATEMENT,
	TRACEDB_FINDING_STATEMENTS,
	TRACEDB_FINDING_STATEMENT_0,
	TRACEDB_FINDING_LATE_BUFFER,
	TRACEDB_FINDING_FIXED_BLOB,
	TRACEDB_FINDING_POINTER,
	TRACEDB_FINDING_MAX,
};

/* The kinds of findings, indexed by their id. */
extern const struct finding_kind tracedb_finding_kinds[TRACEDB_FINDING_MAX];

/* Reads all of T, counts its findings in C, and reports them. Returns an enum cli_exit. */
int tracedb_check(struct finding_counts *c, struct open_trace *t);
