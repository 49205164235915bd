/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lint of an archive: what is against the specification in it, and what readers that people use
 * will make wrong of it. It is given all records and all damage in the order of the file and calls
 * back for each finding; some findings can only be made at the end.
 *
 * Memory is bounded, whatever the archive holds. What depends on the order in time is judged in
 * that order, over a window of FXT_LINT_WINDOW records; what comes later than that, and threads,
 * tracks and ids beyond what is held, are not judged, and counted as such (and may be missed
 * elsewhere).
 */
#pragma once

#include <stdint.h>

#include "base/cleanup.h"
#include "reader/fxt/fxt-finding.h"
#include "reader/fxt/fxt-reader.h"

enum { FXT_LINT_WINDOW = 1 << 17 };

struct fxt_lint;

/* The finding is borrowed for the call. */
typedef void (*fxt_lint_found_fn)(void *userdata, const struct fxt_finding *finding);

/* Returns 0 or -ENOMEM. */
int fxt_lint_new(struct fxt_lint **ret, fxt_lint_found_fn found, void *userdata);
struct fxt_lint *fxt_lint_free(struct fxt_lint *l);
DEFINE_CLEANUP(struct fxt_lint *, fxt_lint_free)

/* Looks at the next record; its reader must live. Returns 1 if nothing in the record itself is
 * against the specification, 0 if something is, or -ENOMEM. */
int fxt_lint_record(struct fxt_lint *l, const struct fxt_record *record);

/* Takes note of damage that the reader came upon. */
void fxt_lint_damage(struct fxt_lint *l, const struct fxt_damage *damage);

/* At the end of the archive. Returns 0 or -ENOMEM. */
int fxt_lint_finish(struct fxt_lint *l);

/* How many records could not be judged as to what needs others, too. */
uint64_t fxt_lint_not_judged(const struct fxt_lint *l);
