/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where does the next good record begin? Asked where a record is not what it claims. Internal to
 * the FXT reader; docs/architecture/damage.md says how it fits together.
 *
 * A place is believed when what begins there is a record as the specification has it, to the last
 * bit that can be checked, and so is what follows, until there is evidence enough that this is no
 * chance. What a record is worth as evidence depends on how much of it can be checked: a time near
 * those that were read before is worth most, since everything else in a trace is small numbers that
 * often look like headers. Records that change tables are worth little, and the first one must fit
 * what is known: a record that is missed costs less than garbage that is believed.
 *
 * Each place is looked at in a bounded time and once; places are tried byte by byte, since bytes
 * may be missing. No more than FXT_RESYNC_WINDOW bytes are looked at beyond a place that is tried.
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

/* What is enough: behind damage, and to believe that something is an archive at all. */
enum { FXT_RESYNC_ENOUGH = 50, FXT_RESYNC_ARCHIVE = 150 };

/* Bytes behind the contents of a record that is believed for its time all the same. */
enum { FXT_RESYNC_LONGER_MAX = 32 };

enum { FXT_RESYNC_DEAD = 1024 };

struct fxt_resync {
	struct input *input;
	const struct table *providers;       /* id + 1 -> struct fxt_provider */
	const struct fxt_provider *provider; /* whose section it is */
	bool swap;
	int enough;
	uint64_t first_ns, last_ns; /* times that were read before; 0 = none */

	/*
	 * Places from which nothing good follows, by their low bits: their offsets in the input,
	 * and 1.
	 */
	uint64_t dead[FXT_RESYNC_DEAD];
	uint64_t n_dead;
};

/* Makes ready to judge what the fields say, which may have changed since. */
void fxt_resync_begin(struct fxt_resync *s);

/*
 * All places are counted from where the input stands. Negative errnos are read()'s.
 *
 * fxt_resync_at: do good records begin at AT? Returns 1 or 0.
 * fxt_resync_find: finds the first such place in [FROM, TO); END > 0: good records must follow each
 * other from there to behind END, where none begins. Returns 1 or 0.
 * fxt_resync_find_on: the same without a limit, and goes there: skips what is before it, or all.
 */
int fxt_resync_at(struct fxt_resync *s, size_t at);
int fxt_resync_find(struct fxt_resync *s, size_t from, size_t to, size_t end, size_t *ret_at);
int fxt_resync_find_on(struct fxt_resync *s, size_t from);

/*
 * Does something follow at AT that can be a record, good or odd (unknown, with words or bits that
 * are not known), or the end of the input? Less is asked than for a place that was searched for.
 * Returns 1 or 0; *RET_TO is how far everything was in order.
 */
int fxt_resync_follows(struct fxt_resync *s, size_t at, size_t *ret_to);

/*
 * Is what begins where the input stands a good record, but for the size that it claims? Returns its
 * size in bytes by its contents, or 0; *RET_SURE: it is believed if it is followed by the end of
 * the input, too.
 */
size_t fxt_resync_contents(struct fxt_resync *s, bool *ret_sure);
