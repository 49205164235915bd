/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first pass over a report: which of its calls are to be shown, a bit each.
 *
 * Allocations and deallocations are paired by index, which is the order in which they were
 * recorded; times are not asked, since their clock may have been set, or have begun anew at
 * midnight. Reports whose calls are in that order need memory for what is live; others (compressed
 * or sorted ones) 32 bytes a call.
 *
 * All calls are paired, wanted or not: what is freed in another context is free. An allocation of
 * what is live already replaces it: the same id is given out twice only after it came back, so the
 * older one is no leak but one whose freeing was not seen.
 */
#pragma once

#include "reader/rtrace/rtrace-live.h"
#include "reader/rtrace/rtrace-select.h"

struct rtrace_choose_counts {
	uint64_t calls;
	uint64_t replaced; /* allocations whose freeing was not seen */
	uint64_t unknown;  /* deallocations of what was not seen to be allocated */
};

struct rtrace_choose {
	struct rtrace_select_state select;
	struct rtrace_choose_counts counts;
	bool leaks; /* only allocations that were not freed */
	bool sorts; /* calls do not come in order: they are paired at the end */
	struct rtrace_live live;
	uint64_t *bits;  /* owned; of calls, in the order of the report */
	uint64_t *frees; /* owned; which of them are deallocations, with a range */
	size_t n_words;
	struct rtrace_choose_call *calls; /* owned; with SORTS */
	size_t n_room;
	uint64_t last_index;
	uint64_t group; /* the first call that shares the backtrace that comes next */
	bool in_range;  /* a frame of it is in the range */
	bool clamped;   /* the last call is wanted if its size, which did not fit, is */
};

/* What rtrace_choose_record() answers. */
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
