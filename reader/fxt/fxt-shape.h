/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a record is by its contents, whatever size its header claims; from bytes that lie anywhere,
 * in either byte order. Internal to the FXT reader: it swaps archives of big-endian machines by
 * this, and finds its way back behind damage.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "writer/fxt/fxt-wire.h"

/* Category, name, and the names and strings of all arguments. */
enum { FXT_SHAPE_REFS_MAX = 2 + 2 * FXT_ARGS_MAX, FXT_SHAPE_THREADS_MAX = 2 };

struct fxt_shape {
	uint64_t head;    /* the header, in our byte order */
	uint64_t claimed; /* words, the header included, by the header */
	uint64_t words;   /* by the contents; 0: they do not fit, or are of no known kind */
	bool unknown;     /* of no known kind: the length of its contents is unknown */
	bool flawed;      /* unknown, reserved bits, an argument that is not what it says */
	bool timed;
	uint64_t ticks, value; /* value: ticks per second of an initialization record */
	uint32_t clean_bytes;  /* of text that is text, of what was looked at */
	bool odd_text;         /* control characters, or padding that is not zero */
	unsigned n_refs, n_threads;
	uint16_t refs[FXT_SHAPE_REFS_MAX]; /* to the string table; without 0 and inline ones */
	uint8_t threads[FXT_SHAPE_THREADS_MAX];
};

/* The word at P. */
static inline uint64_t fxt_load_word(const uint8_t *p, bool swap)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return swap ? __builtin_bswap64(word) : word;
}

/* The size that the record with this header claims, in words. */
static inline uint64_t fxt_claimed_words(uint64_t head)
{
	if (fxt_get_record_type(head) == FXT_RECORD_LARGE)
		return fxt_get_large_words(head);
	return fxt_get_record_words(head);
}

/* The bits of a header that its layout reserves. */
uint64_t fxt_reserved_bits(uint64_t head);

/* Could a record begin so? Cheap: most words that are no header are recognized by it. */
bool fxt_shape_begins(uint64_t head);

/* Looks at the record at P, of which AVAILABLE words are there (at least one). The bytes of a large
 * BLOB need not be there. Costs a bounded time, whatever the record claims. */
void fxt_shape_of(const uint8_t *p, uint64_t available, bool swap, struct fxt_shape *ret);

/* Copies the record of N_WORDS words at P to TO: words in our byte order, streams as they are. */
void fxt_shape_copy(const uint8_t *p, uint64_t n_words, bool swap, uint64_t *to);
