/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first pass over a report: selects the calls to show, with one bit per call.
 *
 * Allocations and deallocations are paired in order of their indices, which is the order of
 * recording. Times are not used, since the clock may have been set, or restarted at midnight. If
 * the calls are in that order, memory is needed only for live resources; otherwise (for compressed
 * or sorted reports), 32 bytes per call.
 *
 * All calls are paired, selected or not: a block that is freed in another context is free. An
 * allocation with the id of a live resource replaces it: its deallocation must be missing in the
 * report, so it is not a leak.
 */
#pragma once

#include "reader/rtrace/rtrace-live.h"
#include "reader/rtrace/rtrace-select.h"

struct rtrace_choose_counts {
	uint64_t calls;
	uint64_t replaced; /* allocations whose deallocation is missing */
	uint64_t unknown;  /* deallocations whose allocation is missing */
};

struct rtrace_choose {
	struct rtrace_select_state select;
	struct rtrace_choose_counts counts;
	bool leaks; /* only allocations that were not freed */
	bool sorts; /* calls are out of order, and are paired at the end */
	struct rtrace_live live;
	uint64_t *bits;  /* owned; of calls, in the order of the report */
	uint64_t *frees; /* owned; the calls that are deallocations, if there is a range */
	size_t n_words;
	struct rtrace_choose_call *calls; /* owned; with SORTS */
	size_t n_room;
	uint64_t last_index;
	uint64_t group; /* the first call that shares the next backtrace */
	bool in_range;  /* one of its frames is in the range */
	bool clamped;   /* the last call is wanted if its size, which did not fit, is */
};

/* The results of rtrace_choose_record(). */
enum rtrace_choose_outcome {
	RTRACE_CHOOSE_DONE = 0,
	RTRACE_CHOOSE_UNSORTED, /* calls are out of order: begin anew, with SORTS */
};

void rtrace_choose_init(struct rtrace_choose *c, const struct rtrace_select *select, bool leaks,
			bool sorts);
void rtrace_choose_deinit(struct rtrace_choose *c);

/*
 * Takes each record of READER. Returns an outcome, -ENOMEM, or -EOVERFLOW for more calls than 2^36.
 */
int rtrace_choose_record(struct rtrace_choose *c, const struct rtrace_record *record,
			 const struct rtrace_reader *reader);

/* All records were taken. Returns 0. */
int rtrace_choose_finish(struct rtrace_choose *c);

/* Whether the call, of the number NUMBER from 0, is to be shown. */
bool rtrace_choose_keeps(const struct rtrace_choose *c, uint64_t number);
