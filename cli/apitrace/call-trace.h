/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of an archive as a call trace for apitrace. That format has no times, processes or
 * groups. So kymo adds arguments to each call (@ts_ns, @dur_ns, @pid), and calls that no program
 * made: glPushGroupMarkerEXT() and glPopGroupMarkerEXT() enclose the calls of a process, and
 * glFrameTerminatorGREMEDY() ends a slice of time, which qapitrace shows as a frame.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "base/table.h"
#include "cli/common/call-stacks.h"
#include "model/event.h"

enum call_trace_order {
	/* By slice, process and time, with the end of a call directly after its begin */
	CALL_TRACE_PAIRED,
	CALL_TRACE_ARRIVAL, /* by time, with begins and ends separate */
};

struct call_trace_options {
	enum call_trace_order order;
	bool plain;        /* write only data of the program, so that two runs can be compared */
	uint64_t slice_ns; /* length of a slice of time; 0 = no frames */
	/* Write one trace per process; used by the caller of call_trace_write(). */
	bool split;
};

struct call_trace_call;

struct call_trace {
	struct call_trace_options options;
	struct call_trace_call *calls; /* owned, including all their data */
	size_t n, room;
	struct table functions;     /* hash -> struct call_trace_function, owned */
	struct call_stacks *stacks; /* the stacks of calls; borrowed; NULL = stacks are omitted */
	struct table frames;        /* place and depth -> struct apitrace_frame, owned */
	struct table names;         /* names of processes: koid + 1 -> text, owned */
	uint64_t n_lost;            /* number of calls that the recording lost */
};

void call_trace_deinit(struct call_trace *t);

/* Adds an event of any kind. Returns 0 or -ENOMEM. */
int call_trace_on_event(void *trace, const struct event *ev);

/* The processes that have calls, sorted, as a new array (free() it). Returns 0 or -ENOMEM. */
int call_trace_processes(const struct call_trace *t, uint32_t **ret, size_t *ret_n);

/* Writes the collected calls of process PID (0 = all) to TO as an uncompressed stream. Returns 0 or
 * a negative errno. */
int call_trace_write(struct call_trace *t, uint32_t pid, struct outbuf *to);
