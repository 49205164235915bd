/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo dump of a trace-db file: prints its types, and each point with its entries.
 */
#pragma once

#include "cli/common/open-trace.h"

/* Prints all of T. Returns an enum cli_exit. */
int tracedb_dump(struct open_trace *t, bool json);

/* Returns the layout of the file, such as "W64". */
const char *tracedb_dump_layout(const struct open_trace *t);
