/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call of a function as one line, in the style of strace, or as JSON.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "model/other-files.h"
#include "cli/common/call-stacks.h"
#include "cli/common/name-filter.h"
#include "cli/common/part-options.h"
#include "model/event.h"
#include "reader/views/call-table.h"

struct call_lines {
	bool json;
	bool is_live;
	struct name_filter function, process; /* only calls of these functions and processes */
	struct part_ids pids, tids; /* only calls of these processes and threads; empty = all */
	bool only_failed;           /* only calls that returned an error */
	uint64_t min_ns;            /* only calls that took at least this long */
	struct call_stacks *stacks; /* to print with the calls; borrowed; NULL = none */
	uint64_t first_ns;  /* start of the recording, the origin of times; 0 = not known yet */
	struct table names; /* names of threads: koid + 1 -> text, owned */
	struct other_files others;     /* files without probes, whose calls are missing */
	uint64_t n_printed, n_calls;   /* those that were printed, and all */
	uint64_t walks[WALK_ENDS_MAX]; /* walks of stacks, by their ends */
	bool only_sums; /* calls are added to `sums` and not printed (call-report.h) */
	struct call_table sums;
	uint64_t n_lost; /* lost records of calls */
};

/* Returns the name of thread TID, or "?". */
const char *call_lines_name(const struct call_lines *l, uint32_t tid);

void call_lines_deinit(struct call_lines *l);

/* Adds an event of any kind, and prints it if it is a call. Returns 0 or -ENOMEM. (LINES is a
 * struct call_lines.) */
int call_lines_on_event(void *lines, const struct event *ev);
