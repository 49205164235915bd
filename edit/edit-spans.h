/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open durations, asynchronous operations and flows, each of which begins with one event and ends
 * with another. An edit that leaves out events must not leave only one of these two: readers would
 * keep the item open to the end of the trace, or end another item in its place.
 *
 * Memory is bounded: open items beyond the limit are not tracked, and their events pass unchanged.
 *
 * Durations are identified by thread, and nest. The other items are identified by their correlation
 * id, for each provider.
 */
#pragma once

#include "base/cleanup.h"
#include "reader/fxt/fxt-reader.h"

struct edit_spans;

/* Writes RECORD, an event of provider FROM. Returns 0 or a negative errno. */
typedef int (*edit_spans_fn)(void *userdata, const struct fxt_provider *from,
			     const struct fxt_record *record);

int edit_spans_new(struct edit_spans **ret, edit_spans_fn write, void *userdata);
struct edit_spans *edit_spans_free(struct edit_spans *s);
DEFINE_CLEANUP(struct edit_spans *, edit_spans_free)

enum edit_spans_verdict {
	EDIT_SPANS_DROP = 0, /* the begin of the item is missing */
	EDIT_SPANS_KEEP = 1,
};

/*
 * Processes an event. FROM is borrowed for as long as the item is open. Returns an enum
 * edit_spans_verdict, or -ENOMEM.
 */
int edit_spans_process(struct edit_spans *s, const struct fxt_provider *from,
		       const struct fxt_record *record);

/*
 * Writes the begins of open items at TS_NS, outer items first. Items that began after BEGAN_NS, or
 * that an earlier call has written, are not written.
 */
int edit_spans_open(struct edit_spans *s, uint64_t began_ns, uint64_t ts_ns);

/*
 * Writes the ends of all open items, inner items first: at TS_NS or, if a complete duration within
 * the item ends later, at the end of that duration. The ends are in the order of their times.
 * *RET_NS is the time of the last end, at least TS_NS. Afterwards, nothing is open. Returns 0,
 * -ENOMEM, or the result of a write.
 */
int edit_spans_close(struct edit_spans *s, uint64_t ts_ns, uint64_t *ret_ns);

/* Returns the number of open items. */
uint64_t edit_spans_n_open(const struct edit_spans *s);
