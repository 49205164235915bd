/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo summary of a GDB trace file: which tracepoints were hit how often, and what was
 * collected.
 */
#pragma once

#include "cli/common/open-trace.h"

/* Reads all of T and reports, LIMIT tracepoints at most as text. Returns an enum cli_exit. */
int tfile_summary(struct open_trace *t, bool json, uint64_t limit);
