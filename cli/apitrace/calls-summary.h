/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo summary of a call trace: how many calls of which functions, by how many threads.
 */
#pragma once

#include "cli/common/open-trace.h"

/* Prints it, LIMIT functions of it. Returns an enum cli_exit. */
int calls_summary(struct open_trace *t, bool json, uint64_t limit);
