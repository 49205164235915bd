/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/parquet/parquet-encode.h"

#include <endian.h>
#include <string.h>

#include "writer/parquet/parquet-thrift.h"
#include "writer/parquet/parquet-wire.h"

/* The number of values in a group of the hybrid encoding. At least as many equal values become a
 * run. */
enum { GROUP = 8 };

unsigned encode_width(uint64_t max)
{
	return max ? 64 - (unsigned)__builtin_clzll(max) : 0;
}

/* Appends N values with WIDTH bits each, the lowest bit first. */
static void encode_pack(struct outbuf *to, const uint64_t *values, size_t n, unsigned width)
{
	size_t bytes = (n * width + 7) / 8, at = 0;
	uint8_t *p = bytes ? outbuf_reserve(to, bytes) : NULL;
	uint64_t bits = 0, le;
	unsigned n_bits = 0;

	if (!p)
		return;
	for (size_t i = 0; i < n; i++) {
		bits |= values[i] << n_bits;
		n_bits += width;
		if (n_bits < 64)
			continue;
		le = htole64(bits);
		memcpy(p + sizeof(le) * at++, &le, sizeof(le));
		n_bits -= 64;
		/* (shifting by 64 bits is undefined in C) */
		bits = n_bits ? values[i] >> (width - n_bits) : 0;
	}
	le = htole64(bits);
	memcpy(p + sizeof(le) * at, &le, bytes - sizeof(le) * at);
}

/* ---- RLE and groups ---- */

static size_t encode_run_length(const uint32_t *values, size_t n)
{
	size_t i = 1;

	while (i < n && values[i] == values[0])
		i++;
	return i;
}

static void encode_run(struct outbuf *to, uint32_t value, size_t n, unsigned width)
{
	uint32_t le = htole32(value);

	thrift_put_varint(to, (uint64_t)n << 1);
	outbuf_append(to, &le, (width + 7) / 8);
}

/* Returns the number of values, a multiple of GROUP or N, before the next run of at least GROUP
 * equal values. */
static size_t encode_before_run(const uint32_t *values, size_t n)
{
	size_t i = 0;

	while (i < n && (n - i < GROUP || encode_run_length(values + i, GROUP) < GROUP))
		i += GROUP;
	return i < n ? i : n;
}

static void encode_groups(struct outbuf *to, const uint32_t *values, size_t n, unsigned width)
{
	uint64_t group[GROUP];

	thrift_put_varint(to, (uint64_t)(n + GROUP - 1) / GROUP << 1 | 1);
	for (size_t i = 0; i < n; i += GROUP) {
		memset(group, 0, sizeof(group));
		for (size_t k = 0; k < GROUP && i + k < n; k++)
			group[k] = values[i + k];
		encode_pack(to, group, GROUP, width);
	}
}

void encode_hybrid(struct outbuf *to, const uint32_t *values, size_t n, unsigned width)
{
	size_t length;

	for (size_t i = 0; i < n; i += length) {
		length = encode_run_length(values + i, n - i);
		if (length >= GROUP) {
			encode_run(to, values[i], length, width);
			continue;
		}
		length = encode_before_run(values + i, n - i);
		encode_groups(to, values + i, length, width);
	}
}

/* ---- differences ---- */

/* Writes a block of N differences. */
static void encode_delta_block(struct outbuf *to, uint64_t *deltas, size_t n)
{
	uint64_t bits[PARQUET_DELTA_MINIBLOCKS] = { 0 };
	uint8_t widths[PARQUET_DELTA_MINIBLOCKS];
	int64_t least = (int64_t)deltas[0];

	for (size_t i = 1; i < n; i++)
		least = (int64_t)deltas[i] < least ? (int64_t)deltas[i] : least;
	for (size_t i = 0; i < n; i++) {
		deltas[i] -= (uint64_t)least;
		/* (the bits of all numbers together have the width of the largest number) */
		bits[i / PARQUET_DELTA_MINIBLOCK] |= deltas[i];
	}
	for (size_t i = 0; i < PARQUET_DELTA_MINIBLOCKS; i++)
		widths[i] = (uint8_t)encode_width(bits[i]);
	memset(deltas + n, 0, (PARQUET_DELTA_BLOCK - n) * sizeof(*deltas));
	thrift_put_varint(to, thrift_zigzag(least));
	outbuf_append(to, widths, sizeof(widths));
	for (size_t i = 0; i < n; i += PARQUET_DELTA_MINIBLOCK)
		encode_pack(to, deltas + i, PARQUET_DELTA_MINIBLOCK,
			    widths[i / PARQUET_DELTA_MINIBLOCK]);
}

void encode_delta(struct outbuf *to, const uint64_t *values, size_t n)
{
	uint64_t deltas[PARQUET_DELTA_BLOCK];
	size_t filled = 0;

	thrift_put_varint(to, PARQUET_DELTA_BLOCK);
	thrift_put_varint(to, PARQUET_DELTA_MINIBLOCKS);
	thrift_put_varint(to, n);
	thrift_put_varint(to, thrift_zigzag(n ? (int64_t)values[0] : 0));
	for (size_t i = 1; i < n; i++) {
		deltas[filled++] = values[i] - values[i - 1];
		if (filled < PARQUET_DELTA_BLOCK && i + 1 < n)
			continue;
		encode_delta_block(to, deltas, filled);
		filled = 0;
	}
}

/* ---- plain values ---- */

void encode_plain(struct outbuf *to, const uint64_t *values, size_t n)
{
	uint8_t *p = n ? outbuf_reserve(to, n * sizeof(*values)) : NULL;

	for (size_t i = 0; p && i < n; i++) {
		uint64_t le = htole64(values[i]);

		memcpy(p + i * sizeof(le), &le, sizeof(le));
	}
}

void encode_plain_bits(struct outbuf *to, const uint64_t *values, size_t n)
{
	encode_pack(to, values, n, 1);
}

void encode_plain_text(struct outbuf *to, const char *text, size_t n)
{
	uint32_t le = htole32((uint32_t)n);

	outbuf_append(to, &le, sizeof(le));
	outbuf_append(to, text, n);
}
