/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Owners of koids on a machine that several archives describe.
 *
 * The kernel reuses ids: archives of one boot can use one koid for different threads. The kernel
 * object identifies the owner: by its start time, or, for a thread without one, by its process.
 * (The name can change.) The first owner keeps the koid. In an archive with another owner, the koid
 * is replaced by a later koid of that tid (docs/FXT-MAPPING.md, "Koids"): the one that its owner
 * already has on the machine, or a free one.
 *
 * Within an archive, a koid has one owner, since archives use later koids themselves. So the
 * replacement is decided once, when the first object with the koid is seen. If a record with the
 * koid was written before, the koid is not replaced: otherwise, half of a thread's records would
 * have another id.
 *
 * Memory is bounded: beyond EDIT_OWNERS_MAX koids of all archives together, koids are unchanged.
 */
#pragma once

#include "base/cleanup.h"
#include "reader/fxt/fxt-reader.h"

enum { EDIT_OWNERS_MAX = 1 << 20 };

struct edit_owners;

/*
 * Creates owners for N_INPUTS archives (at most 64). edit_owners_join() sets their machines later.
 * Returns 0 or -ENOMEM.
 */
int edit_owners_new(struct edit_owners **ret, unsigned n_inputs);
struct edit_owners *edit_owners_free(struct edit_owners *o);
DEFINE_CLEANUP(struct edit_owners *, edit_owners_free)

/* Notes RECORD of INPUT, if it is a kernel object of kymo. Returns 0 or -ENOMEM. */
int edit_owners_see(struct edit_owners *o, unsigned input, const struct fxt_record *record);

/*
 * Sets the machine of INPUT to MACHINE. The koids of a machine are below SPAN (0 = 2^32). The
 * objects of INPUT, including those noted before, then find their owners. Returns 0 or -ENOMEM.
 */
int edit_owners_join(struct edit_owners *o, unsigned input, unsigned machine, uint64_t span);

/* Returns the koid on the machine for KOID of INPUT, in a record that is being written. */
uint64_t edit_owners_koid(struct edit_owners *o, unsigned input, uint64_t koid);

/*
 * Returns true if an input knows more about the owner of KOID of INPUT than an object without a
 * name. Inputs whose bit is set in APART do not count.
 */
bool edit_owners_knows(const struct edit_owners *o, unsigned input, uint64_t koid, uint64_t apart);

/*
 * Counts for an input: koids that were replaced (moved), and koids that were kept although they
 * have another owner (shared), since records had been written before or no koid was free.
 */
struct edit_owners_counts {
	uint64_t moved, shared;
};

const struct edit_owners_counts *edit_owners_counts(const struct edit_owners *o, unsigned input);
