/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots of live blocks and events `stack` whose following records are missing.
 *
 * A `snapshot` announces a number of blocks, and a `stack` a backtrace. If the archive is cut off
 * or damaged after such an event, readers wait in vain for the missing blocks or frames. The number
 * of missing blocks or frames is known when the next snapshot or stack begins, or at the end of the
 * archive. A snapshot or stack that was written by then cannot be corrected, so the user of this
 * module reads ahead by its sorting window.
 */
#pragma once

#include "base/cleanup.h"
#include "reader/fxt/fxt-reader.h"

struct edit_incomplete;

int edit_incomplete_new(struct edit_incomplete **ret);
struct edit_incomplete *edit_incomplete_free(struct edit_incomplete *i);
DEFINE_CLEANUP(struct edit_incomplete *, edit_incomplete_free)

/* Processes RECORD of FROM, in the order of the archive. Returns 0 or -ENOMEM. */
int edit_incomplete_read(struct edit_incomplete *i, const struct fxt_provider *from,
			 const struct fxt_record *record);

/* Ends the archive. Returns 0 or -ENOMEM. */
int edit_incomplete_end(struct edit_incomplete *i);

/*
 * Returns the number of missing records: for a `snapshot`, of its blocks; for a `stack`, 1 if it
 * has no frames. 0 = nothing is missing, or it is not yet known whether something is missing.
 */
uint64_t edit_incomplete_missing(const struct edit_incomplete *i, const struct fxt_provider *from,
				 const struct fxt_record *record);
