/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record that is kept for later, when the tables of its provider say something else: a copy with
 * the records of the strings and threads that it refers to before it, and with times in
 * nanoseconds.
 *
 * Names of fxt-names.h are referred to at their places there and are not copied; other strings have
 * the places from EDIT_KEPT_STRING_FIRST on, threads stand in the record itself if they fit.
 * edit-copy.c makes them so (struct edit_rules, apart).
 */
#pragma once

#include "base/cleanup.h"
#include "reader/fxt/fxt-reader.h"

/* Enough for the category, the name and the arguments. */
enum { EDIT_KEPT_STRING_FIRST = FXT_NAME_RESERVED - 2 * FXT_ARGS_MAX - 1 };

struct edit_kept {
	const struct fxt_provider *from; /* the provider of the source that it is of; borrowed */
	uint32_t n_refs;
	uint32_t n_words;
	uint64_t words[];
};

/* A copy of N_WORDS words as described; the caller's. NULL without memory. */
struct edit_kept *edit_kept_new(const struct fxt_provider *from, const uint64_t *words,
				size_t n_words);
struct edit_kept *edit_kept_ref(struct edit_kept *kept);
struct edit_kept *edit_kept_unref(struct edit_kept *kept);
DEFINE_CLEANUP(struct edit_kept *, edit_kept_unref)

/* How much memory KEPT takes, about. */
static inline size_t edit_kept_bytes(const struct edit_kept *kept)
{
	return sizeof(*kept) + kept->n_words * sizeof(*kept->words) + 2 * sizeof(size_t);
}

/* Looks at kept records, one at a time. */
struct edit_viewer;

int edit_viewer_new(struct edit_viewer **ret);
struct edit_viewer *edit_viewer_free(struct edit_viewer *v);
DEFINE_CLEANUP(struct edit_viewer *, edit_viewer_free)

/*
 * A view of KEPT, which holds as long as it, until the next one. Returns 0, or -EBADMSG if its
 * words are no such records.
 */
int edit_viewer_look(struct edit_viewer *v, const struct edit_kept *kept, struct fxt_record *ret);
