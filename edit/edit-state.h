/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state at one moment of an archive, from earlier records: identities, mappings and names of
 * addresses, the last value of each counter. Ended threads and processes are discarded a moment
 * after their end, since the last records of a thread follow its end. A child has the mappings of
 * its parent at the fork, and the parent's records are written again for the child.
 *
 * Memory is bounded: state beyond 128 MiB is not kept, and is counted.
 */
#pragma once

#include "base/cleanup.h"
#include "edit/edit-kept.h"

struct edit_state;

int edit_state_new(struct edit_state **ret);
struct edit_state *edit_state_free(struct edit_state *s);
DEFINE_CLEANUP(struct edit_state *, edit_state_free)

/*
 * Processes RECORD, a view of KEPT. Returns 1 if RECORD is part of the state, 0 if not, or -ENOMEM.
 */
int edit_state_process(struct edit_state *s, struct edit_kept *kept,
		       const struct fxt_record *record);

/*
 * Keeps KEPT, a record without a time, in addition to any other record of the same object: an
 * archive can have several of these before its first time, and all belong to the state there.
 * Returns 0 or -ENOMEM.
 */
int edit_state_add(struct edit_state *s, struct edit_kept *kept);

/* Processes the records that edit_state_add() has kept, so that only the last one of each object
 * remains. Must be called before edit_state_process(), if the state is that of a later moment.
 * Returns 0 or a negative errno. */
int edit_state_reduce(struct edit_state *s);

/* Returns the number of records that did not fit. */
uint64_t edit_state_left_out(const struct edit_state *s);

/* Called with each record of the state, names first. Returns 0 or a negative errno. */
typedef int (*edit_state_fn)(void *userdata, const struct fxt_provider *from,
			     struct fxt_record *record);

/* Passes all records to WRITE, and discards them. Stops at the first error, and returns it. */
int edit_state_flush(struct edit_state *s, edit_state_fn write, void *userdata);
