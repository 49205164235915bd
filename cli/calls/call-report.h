/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sums of calls by process and function, as a table or as JSON.
 */
#pragma once

#include "cli/calls/call-line.h"

/* Prints the sums in LINES. Returns an enum cli_exit. */
int call_report_print(const struct call_lines *lines);
