/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of an archive as trace points (trace-db): arguments and results as variables, and what
 * was allocated as sizes of buffers. Addresses mean something in one process only, so each has a
 * trace of its own.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "base/table.h"
#include "base/text-set.h"
#include "writer/event.h"
#include "writer/tracedb/tracedb-model.h"

struct trace_points_item;

struct trace_points {
	struct trace_points_item *items; /* calls, allocations and frees; owned */
	size_t n, room;
	struct text_set texts;  /* names, and texts of values */
	const char **functions; /* by statement - 1; of `texts`. Owned */
	size_t n_functions, functions_room;
	struct table statements; /* hash of the name -> statement */
	uint64_t n_calls;
	uint64_t n_lost;  /* calls and allocations that the recording lost */
	uint64_t sampled; /* not 0: only some allocations were recorded */
};

void trace_points_deinit(struct trace_points *t);

/* Takes any event in. Returns 0 or -ENOMEM. */
int trace_points_take(void *points, const struct event *ev);

/* The processes that have calls, in order, into a new array (free() it). Returns 0 or -ENOMEM. */
int trace_points_processes(const struct trace_points *t, uint32_t **ret, size_t *ret_n);

/* Appends the trace of process PID to TO. Returns 0 or a negative errno. */
int trace_points_write(const struct trace_points *t, uint32_t pid, enum tracedb_layout layout,
		       struct outbuf *to);

/* The function of STATEMENT; NULL = there is none. */
const char *trace_points_function(const struct trace_points *t, uint64_t statement);
