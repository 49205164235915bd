/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The options of post-processing, and its input and output.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "reader/rtrace/rtrace-choose.h"

enum rtrace_sort_key {
	RTRACE_SORT_NONE, /* unchanged order */
	RTRACE_SORT_SIZE,
	/* By the number of calls with the same backtrace; only if they are grouped. */
	RTRACE_SORT_COUNT,
	RTRACE_SORT_INDEX,
	/* By time. If the clock went back by more than half a day, it began anew at midnight */
	RTRACE_SORT_TIME,
};

struct rtrace_postprocess_options {
	bool leaks;    /* show only resources that were not freed, and their sums */
	bool compress; /* group calls with one backtrace and resource, and show it once */
	bool resolve;  /* add names to frames */
	enum rtrace_sort_key sort;
	bool descending;
	bool has_depth;
	uint32_t depth;                     /* maximum number of frames of a backtrace */
	const struct rtrace_select *select; /* NULL = all calls */
};

/*
 * The input and output of post-processing. All functions return 0, or a negative errno that ends
 * post-processing.
 */
struct rtrace_postprocess_io {
	/* Reads up to N bytes at OFFSET of the report to TO. Returns their number, 0 at the end. */
	ssize_t (*read_at)(void *userdata, uint64_t offset, void *to, size_t n);
	/*
	 * Writes a record: its raw text or, without one, its fields. The types of calls are
	 * resolved.
	 */
	int (*emit)(void *userdata, const struct rtrace_record *record);
	/* Reports that a file is mapped; called with `resolve`. */
	int (*map)(void *userdata, const struct rtrace_map *map);
	/* The name of ADDRESS, after the first N_MAPS maps; empty = unknown. */
	int (*name)(void *userdata, uint64_t address, uint64_t n_maps, struct rtrace_text *ret);
	rtrace_problem_fn problem; /* receives the problem of each line once */
	void *userdata;
};
