/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo summary of a call trace: the number of calls, by function, and the number of threads.
 */
#pragma once

#include "cli/common/open-trace.h"

/* Prints the summary with at most LIMIT functions. Returns an enum cli_exit. */
int apitrace_summary(struct open_trace *t, bool json, uint64_t limit);
