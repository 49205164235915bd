/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The common part of all records that refer to strings or threads. Internal to the FXT writer.
 *
 * A record's function fills in a draft, begins it, and writes the words in order. Beginning first
 * checks everything, then resolves the references (which can write string and thread records), then
 * reserves the whole record.
 */
#pragma once

#include "writer/fxt/fxt-writer.h"

enum { FXT_DRAFT_REFS = 2 };

struct fxt_draft {
	/* Input: the threads; NULL for records with fewer threads. */
	const struct fxt_out_thread *threads[FXT_DRAFT_REFS];
	const struct fxt_out_string *strings[FXT_DRAFT_REFS];
	const struct fxt_out_arg *args;
	unsigned n_args;
	bool process_only; /* a thread that is written inline is written without its tid */
	bool is_large;
	/*
	 * Before fxt_draft_begin(): number of words without the references above; afterwards: of
	 * the whole record.
	 */
	uint64_t n_words;

	/* Set by fxt_draft_begin(): */
	uint16_t thread_refs[FXT_DRAFT_REFS];
	uint16_t string_refs[FXT_DRAFT_REFS];
	/* For each argument: references to its name, and to its value if that is a string. */
	uint16_t arg_refs[FXT_ARGS_MAX][2];
};

/* Reserves the record, zeroed. Returns its begin, or NULL with *RETERR set. */
fxt_word *fxt_draft_begin(struct fxt_writer *w, struct fxt_draft *d, int *reterr);

/* These functions write inline data. They return the position of the next word. */
fxt_word *fxt_draft_thread(const struct fxt_draft *d, unsigned i, fxt_word *p);
fxt_word *fxt_draft_string(const struct fxt_draft *d, unsigned i, fxt_word *p);
fxt_word *fxt_draft_args(const struct fxt_draft *d, fxt_word *p);

/* Copies a stream; the padding is already zero. Returns the position of the next word. */
static inline fxt_word *fxt_draft_stream(fxt_word *p, const void *data, size_t n)
{
	if (n > 0)
		memcpy(p, data, n);
	return p + fxt_stream_words(n);
}

/* Adds a stream of N bytes to the size of D. A stream too long for any record makes D fail. */
static inline void fxt_draft_add_stream(struct fxt_draft *d, size_t n)
{
	d->n_words += n <= FXT_LARGE_BYTES_MAX ? fxt_stream_words(n) : FXT_LARGE_WORDS_MAX;
}
