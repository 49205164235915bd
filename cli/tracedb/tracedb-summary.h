/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo summary of a trace-db file: which statements it has how often, and which variables there are
 * to ask for.
 */
#pragma once

#include "cli/common/open-trace.h"

/*
 * Reads all of T and reports, LIMIT statements and variables at most as text. Returns an enum
 * cli_exit.
 */
int tracedb_summary(struct open_trace *t, bool json, uint64_t limit);
