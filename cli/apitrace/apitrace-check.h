/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo check of a call trace: checks if it is complete, and if other readers can read it.
 */
#pragma once

#include "cli/common/finding-counts.h"
#include "cli/common/open-trace.h"

/* Counts a finding of the reader; USERDATA is the struct finding_counts. */
void apitrace_check_found(void *userdata, enum apitrace_finding_id id, uint64_t offset);

/* Reads all of T, counts its findings in C, and reports them. Returns an enum cli_exit. */
int apitrace_check(struct finding_counts *c, struct open_trace *t);
