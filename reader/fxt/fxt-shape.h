/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Examines the contents of a record, regardless of the size in its header; the bytes can be
 * unaligned and in either byte order. Internal to the FXT reader, which uses this to swap archives
 * of big-endian machines, and to find records after damage.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "writer/fxt/fxt-wire.h"

/* The maximum numbers of references: category, name, and the names and strings of all arguments. */
enum { FXT_SHAPE_REFS_MAX = 2 + 2 * FXT_ARGS_MAX, FXT_SHAPE_THREADS_MAX = 2 };

struct fxt_shape {
	uint64_t head;    /* the header in native byte order */
	uint64_t claimed; /* number of words that the header claims, with the header itself */
	/*
	 * Number of words that the contents need; 0 = they do not fit, or the kind is unknown.
	 */
	uint64_t words;
	bool unknown; /* the kind is unknown, and so is the length of its contents */
	/* The record has an unknown kind, reserved bits, or an inconsistent argument. */
	bool flawed;
	bool timed;
	uint64_t ticks, value; /* value: ticks per second, and others */
	uint32_t clean_bytes;  /* number of examined bytes that are valid text */
	bool odd_text;         /* text has control characters, or padding that is not zero */
	unsigned n_refs, n_threads;
	/* References to the string table; 0 and inline strings are left out. */
	uint16_t refs[FXT_SHAPE_REFS_MAX];
	uint8_t threads[FXT_SHAPE_THREADS_MAX];
};

/* Returns the word at P in native byte order. */
static inline uint64_t fxt_load_word(const uint8_t *p, bool swap)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return swap ? __builtin_bswap64(word) : word;
}

/* Returns the size that the header HEAD claims, in words. */
static inline uint64_t fxt_claimed_words(uint64_t head)
{
	if (fxt_get_record_type(head) == FXT_RECORD_LARGE)
		return fxt_get_large_words(head);
	return fxt_get_record_words(head);
}

/* Returns the reserved bits of the header HEAD, by the layout of its record type; 0 = all are
 * zero. */
uint64_t fxt_reserved_bits(uint64_t head);

/*
 * Returns false if no record can begin with the word HEAD. A cheap test that excludes most words
 * that are not headers.
 */
bool fxt_shape_begins(uint64_t head);

/*
 * Examines the record at P, of which AVAILABLE words are present (at least 1). The bytes of a large
 * BLOB can be absent. Takes bounded time, regardless of the sizes in the record.
 */
void fxt_shape_of(const uint8_t *p, uint64_t available, bool swap, struct fxt_shape *ret);

/* Copies the record of N_WORDS words at P to TO: words in native byte order, streams unchanged. */
void fxt_shape_copy(const uint8_t *p, uint64_t n_words, bool swap, uint64_t *to);
