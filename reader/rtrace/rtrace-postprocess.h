/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Implements `kymo postprocess`: leaks, grouping by backtrace, order, selection, names.
 *
 *	rtrace-choose   pass 1: selects the calls to show
 *	this file       pass 2: shows them, in the order of the report; or
 *	rtrace-group    collects them in pass 2, and then shows them in another order
 *
 * Without any option, there is one pass, which copies the bytes of the report. Otherwise, records
 * that do not belong to calls are kept unchanged in their places (before all calls, if calls are
 * sorted). Temporary comments ("# ") are dropped, and the header lists the options. A compressed
 * report stays compressed.
 *
 * A report is read by offset, since it is read twice, and its calls again when they are sorted.
 * Calls that were added after the first pass are ignored. Otherwise, the report must not change
 * meanwhile.
 */
#pragma once

#include "reader/rtrace/rtrace-choose.h"

enum rtrace_sort_key {
	RTRACE_SORT_NONE, /* unchanged order */
	RTRACE_SORT_SIZE,
	RTRACE_SORT_COUNT, /* of calls with the same backtrace: only if they are grouped */
	RTRACE_SORT_INDEX,
	/* A clock that went back by more than half a day began anew at midnight */
	RTRACE_SORT_TIME,
};

struct rtrace_postprocess_options {
	bool leaks;    /* only resources that were not freed, and their sums */
	bool compress; /* calls with the same backtrace, of the same resource, share it */
	bool resolve;  /* look up the names of frames */
	enum rtrace_sort_key sort;
	bool descending;
	bool has_depth;
	uint32_t depth;                     /* frames of a backtrace, at most */
	const struct rtrace_select *select; /* NULL = all */
};

/* All return 0 or a negative errno, with which it ends. */
struct rtrace_postprocess_io {
	/* Reads up to N bytes at OFFSET of the report to TO. Returns their number, 0 at the end. */
	ssize_t (*read_at)(void *userdata, uint64_t offset, void *to, size_t n);
	/*
	 * Writes a record: its raw text or, without one, its fields. The types of calls are
	 * resolved.
	 */
	int (*emit)(void *userdata, const struct rtrace_record *record);
	/* With `resolve`: a file is mapped. */
	int (*map)(void *userdata, const struct rtrace_map *map);
	/* The name of ADDRESS, given the first N_MAPS maps; empty = unknown. */
	int (*name)(void *userdata, uint64_t address, uint64_t n_maps, struct rtrace_text *ret);
	rtrace_problem_fn problem; /* of each line once */
	void *userdata;
};

struct rtrace_postprocess_result {
	struct rtrace_choose_counts counts;
	uint64_t shown;       /* calls */
	bool unsorted;        /* the report's calls are not in the order of their indices */
	bool context_missing; /* a context that was asked for by name is nowhere */
};

/*
 * Returns 0, an enum rtrace_alien, or a negative errno: of IO, -ENOMEM, -ESTALE if the report has
 * become shorter, -EOVERFLOW if it has more calls than can be counted.
 */
int rtrace_postprocess(const struct rtrace_postprocess_options *options,
		       const struct rtrace_postprocess_io *io,
		       struct rtrace_postprocess_result *ret);
