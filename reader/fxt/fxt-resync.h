/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the next good record after an inconsistent one. Internal to the FXT reader;
 * docs/architecture/damage.md describes the method.
 *
 * A place is accepted if the record there matches the specification in every bit that can be
 * verified, and if the following records do so, too, until chance is excluded. The more of a record
 * can be verified, the more it weighs as evidence. A time near the previous ones weighs most, since
 * everything else in a trace is small numbers, which often look like headers. Records that change
 * tables weigh little, and must fit the known state if they come first: accepted garbage does more
 * harm than a missed record.
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

/* The evidence that is required after damage, and that is required to take an input for an
 * archive. */
enum { FXT_RESYNC_ENOUGH = 50, FXT_RESYNC_ARCHIVE = 150 };

/*
 * A record that is accepted because of its time may be at most this number of bytes longer than its
 * contents.
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
	 * Positions from which no good records follow: each entry is the offset in the input plus
	 * 1, at the index of the low bits of the offset.
	 */
	uint64_t dead[FXT_RESYNC_DEAD];
	uint64_t n_dead;
};

/* Must be called when the caller has changed the members of S above `dead`. */
void fxt_resync_begin(struct fxt_resync *s);

/*
 * All positions are relative to the input's position. All functions can also return a negative
 * errno of read().
 *
 * fxt_resync_at: returns 1 if good records begin at AT, otherwise 0.
 *
 * fxt_resync_find: finds the first such position in [FROM, TO). If END > 0, good records must lead
 * from there to a record that ends after END. Returns 1, or 0 if there is none.
 *
 * fxt_resync_find_on: the same without a limit (TO). Advances the input to the position that was
 * found and returns 1, or to the end and returns 0.
 */
int fxt_resync_at(struct fxt_resync *s, size_t at);
int fxt_resync_find(struct fxt_resync *s, size_t from, size_t to, size_t end, size_t *ret_at);
int fxt_resync_find_on(struct fxt_resync *s, size_t from);

/*
 * Finds out whether AT is the end of the input, or a place where a possible record begins: a good
 * one, or odd ones (of unknown kind, with unknown words or bits) before a good one. Requires less
 * evidence than a search. Returns 1, 0 if not, or a negative errno; *RET_TO is the last record that
 * was examined.
 */
int fxt_resync_follows(struct fxt_resync *s, size_t at, size_t *ret_to);

/*
 * Returns the size in bytes of the contents of a good record at the input's position whose header
 * has a wrong size; 0 = no such record. *RET_SURE = true if the record needs no further evidence
 * behind it.
 */
size_t fxt_resync_contents(struct fxt_resync *s, bool *ret_sure);
