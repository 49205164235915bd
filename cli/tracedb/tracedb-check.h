/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo check of a trace-db file: is it whole, and what will other readers make of it?
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

/* By id. */
extern const struct finding_kind tracedb_finding_kinds[TRACEDB_FINDING_MAX];

/* Reads all of T, whose findings go to C, and reports. Returns an enum cli_exit. */
int tracedb_check(struct finding_counts *c, struct open_trace *t);
