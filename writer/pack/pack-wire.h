/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The containers that a trace can be packed in, by the bytes that tell them apart, and the Snappy
 * chunk container of apitrace:
 *
 *	file  = 'a' 't' chunk*
 *	chunk = length block
 *
 * where length (32 bits, little-endian) counts the bytes of block, and block is raw Snappy, which
 * starts with its own unpacked length (a varint). Readers hold a chunk in a buffer for what 1 MiB
 * can grow to at worst and overrun it, so a longer chunk must never be written; one that unpacks to
 * nothing puts them out of step. A chunk may end anywhere in what is packed; there is no end mark
 * and no checksum.
 */
#pragma once

#include <stdint.h>

enum pack_method {
	PACK_NONE,
	PACK_SNAPPY,
	PACK_ZSTD,
	PACK_GZIP,
	PACK_METHOD_MAX, /* of those that can be written */
	PACK_BROTLI = PACK_METHOD_MAX,
	PACK_READ_MAX,
};

#define PACK_MAGIC_SNAPPY "at"
#define PACK_MAGIC_ZSTD   "\x28\xb5\x2f\xfd"
#define PACK_MAGIC_GZIP   "\x1f\x8b"

/* A zstd file may also begin with a frame to skip: 5x 2a 4d 18. */
#define PACK_MAGIC_ZSTD_SKIP      "\x50\x2a\x4d\x18"
#define PACK_MAGIC_ZSTD_SKIP_MASK 0xf0 /* of the first byte */

enum {
	PACK_MAGIC_BYTES_MAX = 4,

	/* What one chunk, frame or member of ours holds at most, unpacked. */
	PACK_CHUNK_MAX = 1 << 20,

	SNAPPY_LENGTH_BYTES = 4,
	SNAPPY_BLOCK_MAX = 32 + PACK_CHUNK_MAX + PACK_CHUNK_MAX / 6,
};

_Static_assert(SNAPPY_BLOCK_MAX == 1223370, "what readers have room for");

static inline void snappy_put_length(uint8_t *to, uint32_t length)
{
	for (unsigned i = 0; i < SNAPPY_LENGTH_BYTES; i++)
		to[i] = (uint8_t)(length >> 8 * i);
}

static inline uint32_t snappy_get_length(const uint8_t *from)
{
	uint32_t length = 0;

	for (unsigned i = 0; i < SNAPPY_LENGTH_BYTES; i++)
		length |= (uint32_t)from[i] << 8 * i;
	return length;
}
