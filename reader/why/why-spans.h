/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Intervals that the user names by function or mark: calls of a function (`kymo why --span`), or
 * the time from one mark to another (`--between`).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "base/value.h"
#include "model/event.h"

enum {
	WHY_SPANS_MAX = 1 << 20, /* calls, or marks; those beyond it are only counted */
	/* Names of functions and marks; calls and marks with names beyond this number are only
	 * counted. */
	WHY_SPAN_NAMES_MAX = 1 << 16,
};

struct why_span {
	uint64_t from_ns, to_ns;
	const char *name; /* the function; for marks, "TEXT to TEXT"; in `names` */
	uint32_t tid;     /* koid; 0 = each thread */
	bool open;        /* it had not ended at to_ns */
	bool partial;     /* the true begin or end is unknown; also set if `open` is */
};

struct why_span_mark {
	uint64_t ts_ns;
	const char *text;
	bool begins, ends;
};

/* A struct with only zeroes and the patterns is empty. The patterns are borrowed. */
struct why_spans {
	/*
	 * A pattern of functions (* and ?). A file before it ("libc.so.6:fsync", "syscall:read") is
	 * ignored, since the archive has only names of functions. NULL = no calls
	 */
	const char *function;
	const char *begin, *end; /* patterns of the texts of marks; NULL = no marks */
	struct why_span *list;   /* owned; see why_spans_finish() */
	size_t n, room;
	struct why_span_mark *marks; /* owned */
	size_t n_marks, room_marks;
	struct table names; /* hash -> struct why_span_name, owned */
	uint64_t n_dropped; /* calls or marks beyond the limits */
	/* Calls of matching functions that the recording left out because of a limit. */
	uint64_t n_left_out;
	bool seen; /* the archive has calls, or marks */
	/* Of the names that match no pattern, the nearest to a pattern. */
	struct value_nearest near, near_end;
	uint64_t n_begins, n_ends; /* marks that match */
};

void why_spans_deinit(struct why_spans *s);

/* Adds EV, if it is a call or a mark that the patterns match. Returns 0 or -ENOMEM. */
int why_spans_add(struct why_spans *s, const struct event *ev);

/* Forgets the calls that ended before BEFORE_NS. */
void why_spans_forget(struct why_spans *s, uint64_t before_ns);

/*
 * Makes intervals of the marks, and sorts the list by thread and begin. Call it after the last
 * event. An interval without an end lasts until END_NS. Returns 0 or -ENOMEM.
 */
int why_spans_finish(struct why_spans *s, uint64_t end_ns);

/* The index of the first interval of TID in the list, or of a later thread; S->n = none. */
size_t why_spans_first(const struct why_spans *s, uint32_t tid);
