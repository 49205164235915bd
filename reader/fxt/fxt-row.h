/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which row of the table of events a record is of.
 */
#pragma once

#include "reader/fxt/fxt-reader.h"
#include "writer/fxt/fxt-event-fields.h"

/* Of a record that is no event. */
enum fxt_row_id fxt_other_row(const struct fxt_record *r);

/* FXT_ROW_NONE: of none, or of what CPUs do (which has no name of its own). Here, since it is asked
 * for each record. */
static inline enum fxt_row_id fxt_record_row(const struct fxt_record *r)
{
	if (r->type != FXT_RECORD_EVENT)
		return fxt_other_row(r);
	return fxt_event_row_named(fxt_text_known(&r->category), fxt_text_known(&r->name),
				   r->subtype);
}

/* The field of R's row that is called NAME (enum fxt_name), or NULL. */
const struct fxt_event_field *fxt_record_field(const struct fxt_record *r, int name);

/*
 * What the argument NAME of R, which its row has, is as a number: of a text one that tells it
 * apart. 0 without it.
 */
uint64_t fxt_record_number(const struct fxt_record *r, int name);

/* The last event `stack`: the next stack of its thread and time is what it names. */
struct fxt_named {
	uint64_t ts_ns, tid, id; /* id 0: it has its frames */
};

void fxt_named_set(struct fxt_named *n, const struct fxt_record *event);

/* The id of what R, a backtrace, has the frames of; 0 if it is no such. */
uint64_t fxt_named_take(struct fxt_named *n, const struct fxt_record *r);

/* Whether R, of ROW, has the argument without which it is somebody else's event of the same name;
 * false, too, if there is none that says so. */
bool fxt_record_has_main(const struct fxt_record *r, enum fxt_row_id row);
