/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls in another order than that of the report: by size, by time, or by the backtrace that they
 * share. What is kept of a call is where it stands (64 bytes), and of each backtrace its addresses;
 * the lines are read again when they are shown.
 */
#pragma once

#include "reader/rtrace/rtrace-output.h"

struct rtrace_group;

/* OUTPUT is borrowed. */
int rtrace_group_new(struct rtrace_group **ret, struct rtrace_output *output);
struct rtrace_group *rtrace_group_free(struct rtrace_group *g);
DEFINE_CLEANUP(struct rtrace_group *, rtrace_group_free)

/* Calls that are wanted, their arguments, and the frames of any that are. Return 0 or -ENOMEM. */
int rtrace_group_call(struct rtrace_group *g, const struct rtrace_record *record);
void rtrace_group_arg(struct rtrace_group *g, const struct rtrace_record *record);
void rtrace_group_frame(struct rtrace_group *g, const struct rtrace_record *record);

/* The backtrace of all calls since the last end is complete. Returns 0 or -ENOMEM. */
int rtrace_group_end(struct rtrace_group *g);

/* Shows everything. TYPES are those of the report. */
int rtrace_group_show(struct rtrace_group *g, const struct rtrace_type *types, size_t n_types);
