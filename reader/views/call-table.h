/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of calls by process and function.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "model/event.h"
#include "reader/views/latency.h"

/* All calls of a process. */
struct call_table_process {
	uint32_t pid;
	uint64_t n, failed, total_ns; /* of the calls that returned */
};

/* The calls of a function in a process. */
struct call_table_row {
	const struct call_table_process *process;
	char *function;      /* owned */
	uint64_t failed;     /* number of calls that returned an error */
	uint64_t unreturned; /* number of calls that did not return, or began before the archive */
	struct latency took; /* the durations of the calls that returned */
};

/* The number of calls of a function that were left out. Their processes are unknown. */
struct call_table_left_out {
	char *function; /* owned */
	uint64_t n;
};

struct call_table {
	struct table processes, rows, left_out;
};

void call_table_deinit(struct call_table *t);

/* Adds an event of any kind. Returns 0 or -ENOMEM. */
int call_table_add(struct call_table *t, const struct event *ev);

/*
 * Stores all rows in a new array, which the caller frees: processes with the longest time in calls
 * first, and in a process, functions with the longest time first. Returns 0 or -ENOMEM.
 */
int call_table_rows(const struct call_table *t, struct call_table_row ***ret, size_t *ret_n);

/* Stores the calls that were left out, sorted by the function's name, like call_table_rows(). */
int call_table_all_left_out(const struct call_table *t, struct call_table_left_out ***ret,
			    size_t *ret_n);
