/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which durations, asynchronous operations and flows are open: what begins with one event and ends
 * with another. An edit that leaves events out must not leave a half of one behind: readers keep it
 * open to the end of the trace, or end another in its place.
 *
 * Memory is bounded; what is open beyond that is not followed, and passes as it is.
 *
 * Durations are told apart by thread, and nest; the others by their correlation id, for each
 * provider.
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
	EDIT_SPANS_DROP = 0, /* its begin is not there */
	EDIT_SPANS_KEEP = 1,
};

/* Takes an event in. FROM is borrowed for as long as it is open. Returns an enum
 * edit_spans_verdict, or -ENOMEM. */
int edit_spans_take(struct edit_spans *s, const struct fxt_provider *from,
		    const struct fxt_record *record);

/*
 * Writes the begin of what is open, outer ones first, at TS_NS: of what began at BEGAN_NS or
 * before, and was not written by an earlier call.
 */
int edit_spans_open(struct edit_spans *s, uint64_t began_ns, uint64_t ts_ns);

/* Writes the end of all that is open, inner ones first, at TS_NS; nothing is open then. */
int edit_spans_close(struct edit_spans *s, uint64_t ts_ns);

/* How many are open. */
uint64_t edit_spans_n_open(const struct edit_spans *s);
