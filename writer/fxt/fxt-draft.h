/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The common part of all records that refer to strings or threads. Internal to the FXT writer.
 *
 * The function of a record type fills in a draft, calls fxt_draft_begin(), and writes the words in
 * order. fxt_draft_begin() first checks everything, then resolves the references (which can write
 * string and thread records), and then reserves the whole record.
 */
#pragma once

#include "writer/fxt/fxt-writer.h"

enum { FXT_DRAFT_REFS = 2 };

struct fxt_draft {
	/* Input: the threads and strings; NULL = the record has fewer of them. */
	const struct fxt_out_thread *threads[FXT_DRAFT_REFS];
	const struct fxt_out_string *strings[FXT_DRAFT_REFS];
	const struct fxt_out_arg *args;
	unsigned n_args;
	bool process_only; /* of an inline thread, only the process is written */
	bool is_large;
	/*
	 * Number of words: before fxt_draft_begin(), without the strings, threads and arguments
	 * above; afterwards, of the whole record.
	 */
	uint64_t n_words;

	/* Set by fxt_draft_begin(): */
	uint16_t thread_refs[FXT_DRAFT_REFS];
	uint16_t string_refs[FXT_DRAFT_REFS];
	/* For each argument: the reference to its name, and if its value is a string, that to its
	 * value. */
	uint16_t arg_refs[FXT_ARGS_MAX][2];
};

/* Reserves the record, with all words 0. Returns its first word, or NULL with the error in
 * *RETERR. */
fxt_word *fxt_draft_begin(struct fxt_writer *w, struct fxt_draft *d, int *reterr);

/* Write a thread, a string or the arguments at P, if they are inline. Return the position after
 * them. */
fxt_word *fxt_draft_thread(const struct fxt_draft *d, unsigned i, fxt_word *p);
fxt_word *fxt_draft_string(const struct fxt_draft *d, unsigned i, fxt_word *p);
fxt_word *fxt_draft_args(const struct fxt_draft *d, fxt_word *p);

/* Copies a stream to P; its padding is 0 already. Returns the position after the stream. */
static inline fxt_word *fxt_draft_stream(fxt_word *p, const void *data, size_t n)
{
	if (n > 0)
		memcpy(p, data, n);
	return p + fxt_stream_words(n);
}

/* Adds a stream of N bytes to the size of D. If no record can hold the stream, fxt_draft_begin()
 * fails. */
static inline void fxt_draft_add_stream(struct fxt_draft *d, size_t n)
{
	d->n_words += n <= FXT_LARGE_BYTES_MAX ? fxt_stream_words(n) : FXT_LARGE_WORDS_MAX;
}
