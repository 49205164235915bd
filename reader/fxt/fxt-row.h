/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The row of a record in the table of events.
 */
#pragma once

#include "reader/fxt/fxt-reader.h"
#include "writer/fxt/fxt-event-fields.h"

/* Returns the row of R, which is a kernel object or a scheduling record; FXT_ROW_NONE = another
 * record. */
enum fxt_row_id fxt_other_row(const struct fxt_record *r);

/*
 * Returns the row of a record. FXT_ROW_NONE = R has no row, or is an interval of a CPU (whose name
 * is not fixed). The function is inline, since it runs for each record.
 */
static inline enum fxt_row_id fxt_record_row(const struct fxt_record *r)
{
	int category;

	if (r->type != FXT_RECORD_EVENT)
		return fxt_other_row(r);
	category = fxt_text_known(&r->category);
	if (category == FXT_NAME_TRACEPOINTS)
		return r->subtype == FXT_EVENT_INSTANT ? FXT_ROW_TRACEPOINT : FXT_ROW_NONE;
	if (category == FXT_NAME_BLOCK)
		return r->subtype == FXT_EVENT_INSTANT || r->subtype == FXT_EVENT_DURATION_COMPLETE
			       ? FXT_ROW_REQUEST
			       : FXT_ROW_NONE;
	return fxt_event_row_named(category, fxt_text_known(&r->name), r->subtype);
}

/* Returns the field of R's row with the name NAME (enum fxt_name), or NULL. */
const struct fxt_event_field *fxt_record_field(const struct fxt_record *r, int name);

/*
 * Returns the argument NAME of R as a number. 0 = R does not have the argument. For a text, the
 * number is a hash of it.
 */
uint64_t fxt_record_number(const struct fxt_record *r, int name);

/*
 * The last event `stack`: it gives an id to the next stack of its process and time. (Earlier
 * versions wrote the stacks of calls and moments on their own threads, but the event before them on
 * the first thread. So the thread does not count.)
 */
struct fxt_named {
	/* Time, process and id of the stack; id 0 = none, or its stack was found. */
	uint64_t ts_ns, pid, id;
};

void fxt_named_set(struct fxt_named *n, const struct fxt_record *event);

/* Returns the id that the last event `stack` gives to the backtrace R, once; 0 = none. */
uint64_t fxt_named_consume(struct fxt_named *n, const struct fxt_record *r);

/*
 * Returns true if R has the main argument of ROW: without it, the event belongs to another program.
 * Also false if ROW has no main argument.
 */
bool fxt_record_has_main(const struct fxt_record *r, enum fxt_row_id row);
