/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo summary of a GDB trace file: the number of hits of each tracepoint, and the collected data.
 */
#pragma once

#include "cli/common/open-trace.h"

/* Reads all of T and reports; the text has at most LIMIT tracepoints. Returns an enum cli_exit. */
int tfile_summary(struct open_trace *t, bool json, uint64_t limit);
