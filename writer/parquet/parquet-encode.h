/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The encodings of values in Parquet's pages. A failure is in the error of the buffer.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"

/* Returns the number of bits that the numbers from 0 to MAX need. */
unsigned encode_width(uint64_t max);

/*
 * RLE: runs of equal values, and groups of eight values with WIDTH bits each (at most 32). Neither
 * the width nor the size is written.
 */
void encode_hybrid(struct outbuf *to, const uint32_t *values, size_t n, unsigned width);

/* DELTA_BINARY_PACKED: differences of successive values, in blocks of 128. */
void encode_delta(struct outbuf *to, const uint64_t *values, size_t n);

/* PLAIN: for numbers of 64 bits; for booleans (the lowest bit of each value); and for one text. */
void encode_plain(struct outbuf *to, const uint64_t *values, size_t n);
void encode_plain_bits(struct outbuf *to, const uint64_t *values, size_t n);
void encode_plain_text(struct outbuf *to, const char *text, size_t n);
