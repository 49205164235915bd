/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shows calls in another order: by size, by time, or by their backtrace. Only the position of each
 * call (64 bytes in memory) and the addresses of each backtrace are kept; the lines are read again
 * for the output.
 */
#pragma once

#include "reader/rtrace/rtrace-output.h"

struct rtrace_group;

/* Returns 0 or -ENOMEM. OUTPUT is borrowed. */
int rtrace_group_new(struct rtrace_group **ret, struct rtrace_output *output);
struct rtrace_group *rtrace_group_free(struct rtrace_group *g);
DEFINE_CLEANUP(struct rtrace_group *, rtrace_group_free)

/*
 * Receive the calls that are wanted, their arguments, and the frames of their backtraces. Return 0
 * or -ENOMEM.
 */
int rtrace_group_call(struct rtrace_group *g, const struct rtrace_record *record);
void rtrace_group_arg(struct rtrace_group *g, const struct rtrace_record *record);
void rtrace_group_frame(struct rtrace_group *g, const struct rtrace_record *record);

/* Ends the backtrace of all calls since the last end. Returns 0 or -ENOMEM. */
int rtrace_group_end(struct rtrace_group *g);

/* Shows all calls. TYPES are the types of the report. */
int rtrace_group_show(struct rtrace_group *g, const struct rtrace_type *types, size_t n_types);
