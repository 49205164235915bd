/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lint of an archive: violations of the specification, and errors that known readers will make.
 * It receives all records and all damage in file order, and calls back for each finding. Some
 * findings are known only at the end.
 *
 * Memory is bounded for any archive. Rules that depend on time are checked in order of time, within
 * a window of FXT_LINT_WINDOW records. Records that are late by more, and threads, tracks and ids
 * beyond the limits, are not checked against others, but counted; some findings can be missing
 * then.
 */
#pragma once

#include <stdint.h>

#include "base/cleanup.h"
#include "reader/fxt/fxt-finding.h"
#include "reader/fxt/fxt-reader.h"

enum { FXT_LINT_WINDOW = 1 << 17 };

struct fxt_lint;

/* Receives a finding. FINDING is valid during the call only. */
typedef void (*fxt_lint_found_fn)(void *userdata, const struct fxt_finding *finding);

/* Returns 0 or -ENOMEM. */
int fxt_lint_new(struct fxt_lint **ret, fxt_lint_found_fn found, void *userdata);
struct fxt_lint *fxt_lint_free(struct fxt_lint *l);
DEFINE_CLEANUP(struct fxt_lint *, fxt_lint_free)

/*
 * Checks the next record. The reader that returned it must still exist. Returns 1 if the record
 * itself conforms to the specification, 0 if not, or -ENOMEM.
 */
int fxt_lint_record(struct fxt_lint *l, const struct fxt_record *record);

/* Records damage that the reader found. */
void fxt_lint_damage(struct fxt_lint *l, const struct fxt_damage *damage);

/* Must be called after the last record: reports what only the end shows. Returns 0 or -ENOMEM. */
int fxt_lint_finish(struct fxt_lint *l);

/* Returns the number of facts that could not be checked against others. */
uint64_t fxt_lint_not_judged(const struct fxt_lint *l);
