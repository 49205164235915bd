/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record that is kept until after the tables of its provider have changed: a copy that follows
 * the records of its own strings and threads, and has times in nanoseconds.
 *
 * Names of fxt-names.h are not copied, but referenced by their fixed indices. Other strings have
 * places from EDIT_KEPT_STRING_FIRST on. Threads are inline if they fit. edit-copy.c writes such
 * copies (`apart` in struct edit_rules).
 */
#pragma once

#include "base/cleanup.h"
#include "reader/fxt/fxt-reader.h"

/*
 * The first index for strings, behind the names. The indices up to FXT_STRING_FIXED_MAX suffice for
 * the category, the name and the arguments.
 */
enum { EDIT_KEPT_STRING_FIRST = FXT_NAME_RESERVED + 1 };

struct edit_kept {
	const struct fxt_provider *from; /* its provider in the source; borrowed */
	uint32_t n_refs;
	uint32_t n_words;
	uint64_t words[];
};

/*
 * Keeps a copy of N_WORDS words in the form above, owned by the caller. Returns NULL if there is no
 * memory.
 */
struct edit_kept *edit_kept_new(const struct fxt_provider *from, const uint64_t *words,
				size_t n_words);
struct edit_kept *edit_kept_ref(struct edit_kept *kept);
struct edit_kept *edit_kept_unref(struct edit_kept *kept);
DEFINE_CLEANUP(struct edit_kept *, edit_kept_unref)

/* Returns the approximate memory that KEPT takes. */
static inline size_t edit_kept_bytes(const struct edit_kept *kept)
{
	return sizeof(*kept) + kept->n_words * sizeof(*kept->words) + 2 * sizeof(size_t);
}

/* A viewer reads kept records, one at a time. */
struct edit_viewer;

int edit_viewer_new(struct edit_viewer **ret);
struct edit_viewer *edit_viewer_free(struct edit_viewer *v);
DEFINE_CLEANUP(struct edit_viewer *, edit_viewer_free)

/*
 * Makes *RET a view of KEPT, valid as long as KEPT, until the next view. Returns 0, or -EBADMSG if
 * the words of KEPT are not records in the form above.
 */
int edit_viewer_parse(struct edit_viewer *v, const struct edit_kept *kept, struct fxt_record *ret);
