/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first pass over a report: selects the calls to show, with one bit per call.
 *
 * Allocations and deallocations are paired in order of their indices, which is the order of
 * recording. Times are not used, since the clock may have been set, or restarted at midnight. If
 * the calls in the report are in the order of their indices, memory is needed only for live
 * resources. Otherwise (in compressed or sorted reports), 32 bytes per call are needed.
 *
 * All calls are paired, selected or not: a block that is freed in another context is free. An
 * allocation with the id of a live resource replaces that resource. The deallocation of the
 * replaced resource must be missing in the report, so the resource is not a leak.
 */
#pragma once

#include "reader/rtrace/rtrace-live.h"
#include "reader/rtrace/rtrace-select.h"

struct rtrace_choose_counts {
	uint64_t calls;
	uint64_t replaced; /* number of allocations whose deallocation is missing */
	uint64_t unknown;  /* number of deallocations whose allocation is missing */
};

struct rtrace_choose {
	struct rtrace_select_state select;
	struct rtrace_choose_counts counts;
	bool leaks; /* choose only allocations that were not freed */
	bool sorts; /* calls are out of order, and are paired at the end */
	struct rtrace_live live;
	uint64_t *bits; /* a bit for each call, in the order of the report; owned */
	/* A bit for each call that is a deallocation, if there is a range; owned. */
	uint64_t *frees;
	size_t n_words;
	struct rtrace_choose_call *calls; /* calls to be paired, if SORTS; owned */
	size_t n_room;
	uint64_t last_index;
	uint64_t group; /* number of the first call with the next backtrace */
	bool in_range;  /* a frame of the backtrace is in the range */
	/* The size of the last call did not fit; the call is chosen if its real size matches. */
	bool clamped;
};

/* The results of rtrace_choose_record(). */
enum rtrace_choose_outcome {
	RTRACE_CHOOSE_DONE = 0,
	RTRACE_CHOOSE_UNSORTED, /* calls are out of order: the pass must be repeated, with SORTS */
};

void rtrace_choose_init(struct rtrace_choose *c, const struct rtrace_select *select, bool leaks,
			bool sorts);
void rtrace_choose_deinit(struct rtrace_choose *c);

/*
 * Must be called with each record of READER. Returns an outcome, -ENOMEM, or -EOVERFLOW for more
 * calls than 2^36.
 */
int rtrace_choose_record(struct rtrace_choose *c, const struct rtrace_record *record,
			 const struct rtrace_reader *reader);

/* Must be called after the last record. Returns 0. */
int rtrace_choose_finish(struct rtrace_choose *c);

/* Returns true if call NUMBER, from 0 on, is to be shown. */
bool rtrace_choose_keeps(const struct rtrace_choose *c, uint64_t number);
