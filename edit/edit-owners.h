/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Owners of koids on a machine that several archives describe.
 *
 * The kernel gives ids out again: archives of one boot can mean different threads by one koid. Who
 * an owner is, its kernel object says: its start time is its own, or else, of a thread, its
 * process. (Not its name, which changes.) The koid stays with the owner who is met first; in an
 * archive that means another one it becomes one of the later ones of that tid (docs/FXT-MAPPING.md,
 * "Koids") that is free on the machine, or the one that its owner has there already.
 *
 * A koid means one owner within an archive, which has such koids itself. So what it becomes is
 * decided once, when its first object is seen, and stays if something was written of it before:
 * half of a thread's records under another id would be worse.
 *
 * Memory is bounded: beyond EDIT_OWNERS_MAX koids of all archives together, koids stay as they are.
 */
#pragma once

#include "base/cleanup.h"
#include "reader/fxt/fxt-reader.h"

enum { EDIT_OWNERS_MAX = 1 << 20 };

struct edit_owners;

/* For N_INPUTS archives, none of which is of a machine yet. Returns 0 or -ENOMEM. */
int edit_owners_new(struct edit_owners **ret, unsigned n_inputs);
struct edit_owners *edit_owners_free(struct edit_owners *o);
DEFINE_CLEANUP(struct edit_owners *, edit_owners_free)

/* Notes RECORD of INPUT, if it is a kernel object of kymo's. Returns 0 or -ENOMEM. */
int edit_owners_see(struct edit_owners *o, unsigned input, const struct fxt_record *record);

/*
 * INPUT is of MACHINE, whose koids are below SPAN (0 = 2^32): what was noted of it, and what will
 * be, finds its owner. Returns 0 or -ENOMEM.
 */
int edit_owners_join(struct edit_owners *o, unsigned input, unsigned machine, uint64_t span);

/* What KOID of INPUT is among the machine's, for something that is being written. */
uint64_t edit_owners_koid(struct edit_owners *o, unsigned input, uint64_t koid);

/* Whether more is known of the owner of KOID of INPUT than an object without a name says. */
bool edit_owners_knows(const struct edit_owners *o, unsigned input, uint64_t koid);

/* Of an input: koids that became another, and those that stayed though they are another owner's,
 * since records were written of them or no koid was free. */
struct edit_owners_counts {
	uint64_t moved, shared;
};

const struct edit_owners_counts *edit_owners_counts(const struct edit_owners *o, unsigned input);
