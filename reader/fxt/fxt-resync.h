/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the next good record after an inconsistent one. Internal to the FXT reader;
 * docs/architecture/damage.md describes the method.
 *
 * A place is accepted if a record begins there that matches the specification in every verifiable
 * bit, and if the following records do so, too, until chance is excluded. The weight of a record as
 * evidence depends on its verifiable part. A time near the previous ones weighs most, since
 * everything else in a trace is small numbers that often look like headers. Records that change
 * tables weigh little, and the first one must fit the known state: a missed record costs less than
 * accepted garbage.
 *
 * Each place is examined once and in bounded time. Places are tried byte by byte, since bytes can
 * be missing. At most FXT_RESYNC_WINDOW bytes after a place are examined.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/input.h"
#include "base/table.h"
#include "reader/fxt/fxt-provider.h"
#include "reader/fxt/fxt-shape.h"

#define FXT_RESYNC_WINDOW ((size_t)512 * 1024)

/* The evidence that is required after damage, and to accept an input as an archive at all. */
enum { FXT_RESYNC_ENOUGH = 50, FXT_RESYNC_ARCHIVE = 150 };

/*
 * The maximum number of bytes after the contents of a record that is accepted because of its time.
 */
enum { FXT_RESYNC_LONGER_MAX = 32 };

enum { FXT_RESYNC_DEAD = 1024 };

struct fxt_resync {
	struct input *input;
	const struct table *providers;       /* id of the provider + 1 -> struct fxt_provider */
	const struct fxt_provider *provider; /* provider of the current section */
	bool swap;
	int enough;
	uint64_t first_ns, last_ns; /* range of the times read so far; 0 = no times yet */

	/*
	 * Places that are not followed by good records: the offset of each in the input, plus 1,
	 * indexed by the low bits of the offset.
	 */
	uint64_t dead[FXT_RESYNC_DEAD];
	uint64_t n_dead;
};

/* Must be called when the fields of S have changed. */
void fxt_resync_begin(struct fxt_resync *s);

/*
 * All positions are relative to the input's position. Negative errnos are those of read().
 *
 * fxt_resync_at: returns 1 if good records begin at AT, otherwise 0.
 *
 * fxt_resync_find: finds the first such position in [FROM, TO). With END > 0, good records must
 * continue from there to a record that ends after END. Returns 1 or 0.
 *
 * fxt_resync_find_on: the same without a limit. Advances the input to that position, or to its end.
 * Returns 1 or 0.
 */
int fxt_resync_at(struct fxt_resync *s, size_t at);
int fxt_resync_find(struct fxt_resync *s, size_t from, size_t to, size_t end, size_t *ret_at);
int fxt_resync_find_on(struct fxt_resync *s, size_t from);

/*
 * Finds out whether a possible record is at AT, good or odd (unknown, with unknown words or bits),
 * or the end of the input. This function requires weaker evidence than a search. Returns 1 or 0;
 * *RET_TO is the end of the valid part.
 */
int fxt_resync_follows(struct fxt_resync *s, size_t at, size_t *ret_to);

/*
 * Returns the size in bytes, by its contents, of a good record at the input's position whose header
 * has a wrong size; 0 = no such record. *RET_SURE: the record is also accepted if the end of the
 * input follows.
 */
size_t fxt_resync_contents(struct fxt_resync *s, bool *ret_sure);
