/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes an archive that shows the results of `kymo why`: the unchanged source, with a track for
 * each thread of each instance's critical path, in the pseudo-process "Why", and flows from each
 * waker to the thread that it woke (docs/architecture/why.md).
 *
 * The source is read twice: once for the view, and once here. So it must be a file. Events are
 * written before the first record that is later than their begin. So readers in file order see the
 * events in order, and the window of edit-sort is not needed.
 */
#pragma once

#include "edit/edit-copy.h"
#include "reader/why/why.h"

/*
 * The maximum number of threads of one instance that have a track each; the other threads share one
 * track, "others".
 */
enum { EDIT_WHY_TRACKS_MAX = 16 };

struct edit_why;

/*
 * Creates the edit. OUT, W and SUMMARY are borrowed: why_finish() was called for W, and SUMMARY is
 * its summary. Returns 0 or -ENOMEM.
 */
int edit_why_new(struct edit_why **ret, struct edit_output *out, const struct why *w,
		 const struct summary *summary);
struct edit_why *edit_why_free(struct edit_why *e);
DEFINE_CLEANUP(struct edit_why *, edit_why_free)

/*
 * Processes the next record. Returns 0 or a negative errno, as edit_copy_record(). *RET_WHAT is the
 * error in the record's arguments (static text), or NULL. A record with an error is copied as far
 * as it is readable. Events of an earlier `kymo why --into` are left out.
 */
int edit_why_record(struct edit_why *e, const struct fxt_record *record, const char **ret_what);

/* After the last record. Returns as above. */
int edit_why_finish(struct edit_why *e);

struct edit_why_counts {
	struct edit_counts copied;
	uint64_t tracks, steps, flows; /* written */
	uint64_t replaced;             /* events of an earlier run, left out */
};

void edit_why_get_counts(const struct edit_why *e, struct edit_why_counts *ret);
