/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of an archive as a call trace for apitrace. Its readers know no time, no process and no
 * groups, so each call gets arguments of ours (@ts_ns, @dur_ns, @pid), and calls of no program say
 * the rest: glPushGroupMarkerEXT() and glPopGroupMarkerEXT() stand around the calls of a process,
 * glFrameTerminatorGREMEDY() ends a slice of time, which qapitrace shows as a frame.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "base/table.h"
#include "cli/common/call-stacks.h"
#include "writer/event.h"

enum call_trace_order {
	/* By slice, process and time; the end of a call stands behind its begin */
	CALL_TRACE_PAIRED,
	CALL_TRACE_ARRIVAL, /* by time, begins and ends */
};

struct call_trace_options {
	enum call_trace_order order;
	bool plain;        /* nothing that is not the program's: so that two runs can be compared */
	uint64_t slice_ns; /* 0 = no frames */
	bool split;        /* a trace for each process: for who writes them */
};

struct call_trace_call;

struct call_trace {
	struct call_trace_options options;
	struct call_trace_call *calls; /* owned, with what they point to */
	size_t n, room;
	struct table functions;     /* hash -> struct call_trace_function, owned */
	struct call_stacks *stacks; /* of calls; borrowed; NULL = they are left out */
	struct table frames;        /* place and depth -> struct apitrace_frame, owned */
	struct table names;         /* of processes: koid + 1 -> text, owned */
	uint64_t n_lost;            /* calls that the recording lost */
};

void call_trace_deinit(struct call_trace *t);

/* Takes any event in. Returns 0 or -ENOMEM. */
int call_trace_take(void *trace, const struct event *ev);

/* The processes that have calls, in order, into a new array (free() it). Returns 0 or -ENOMEM. */
int call_trace_processes(const struct call_trace *t, uint32_t **ret, size_t *ret_n);

/*
 * Writes the stream of what was taken in of process PID, 0 = of all, to TO, not packed. Returns 0
 * or a negative errno.
 */
int call_trace_write(struct call_trace *t, uint32_t pid, struct outbuf *to);
