/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The contents of a record, regardless of the size in its header; from unaligned bytes in either
 * byte order. Internal to the FXT reader: it swaps archives of big-endian machines, and finds
 * records after damage.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "writer/fxt/fxt-wire.h"

/* Category, name, and the names and strings of all arguments. */
enum { FXT_SHAPE_REFS_MAX = 2 + 2 * FXT_ARGS_MAX, FXT_SHAPE_THREADS_MAX = 2 };

struct fxt_shape {
	uint64_t head;    /* the header, native */
	uint64_t claimed; /* words, the header included, by the header */
	uint64_t words;   /* by the contents; 0: they do not fit, or the kind is unknown */
	bool unknown;     /* an unknown kind: the length of its contents is unknown */
	bool flawed;      /* unknown, reserved bits, or an inconsistent argument */
	bool timed;
	uint64_t ticks, value; /* value: ticks per second of an initialization record */
	uint32_t clean_bytes;  /* bytes of valid text among those examined */
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

/* The size in the header of the record, in words. */
static inline uint64_t fxt_claimed_words(uint64_t head)
{
	if (fxt_get_record_type(head) == FXT_RECORD_LARGE)
		return fxt_get_large_words(head);
	return fxt_get_record_words(head);
}

/* The reserved bits of its layout. */
uint64_t fxt_reserved_bits(uint64_t head);

/* Whether a record can begin like this. A cheap test that excludes most other words. */
bool fxt_shape_begins(uint64_t head);

/*
 * Examines the record at P, of which AVAILABLE words are present (at least one). The bytes of a
 * large BLOB can be absent. Takes bounded time, regardless of the sizes in the record.
 */
void fxt_shape_of(const uint8_t *p, uint64_t available, bool swap, struct fxt_shape *ret);

/* Copies the record of N_WORDS words at P to TO: native words, unchanged streams. */
void fxt_shape_copy(const uint8_t *p, uint64_t n_words, bool swap, uint64_t *to);
