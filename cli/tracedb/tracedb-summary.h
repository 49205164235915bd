/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo summary of a trace-db file: the number of points of each statement, and the variables that a
 * query can use.
 */
#pragma once

#include "cli/common/open-trace.h"

/* Reads all of T and reports; the text has at most LIMIT statements and variables. Returns an enum
 * cli_exit. */
int tracedb_summary(struct open_trace *t, bool json, uint64_t limit);
