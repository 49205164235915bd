/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The containers for compressed traces, with the bytes that identify them, and the Snappy chunk
 * container of apitrace:
 *
 *   file  = 'a' 't' chunk*
 *   chunk = length block
 *
 * Length (32 bits, little-endian) is the number of bytes in block. Block is raw Snappy, which
 * starts with its own uncompressed length (a varint). Other readers have a buffer with room for 1
 * MiB of data as compressed in the worst case, and do not check its bounds, so a longer chunk must
 * never be written. A chunk of no data confuses these readers, too. A chunk can end anywhere in the
 * data; there is no end mark and no checksum.
 *
 * And the container of columns, which docs/COLUMNS.md specifies:
 *
 *   file  = piece*
 *   piece = magic version reserved size length checksum body
 *   body  = (varint varint){streams} bytes
 */
#pragma once

#include <stdint.h>

enum pack_method {
	PACK_NONE,
	PACK_SNAPPY,
	PACK_ZSTD,
	PACK_GZIP,
	PACK_COLUMNS,
	PACK_METHOD_MAX, /* number of methods that can be written */
	PACK_BROTLI = PACK_METHOD_MAX,
	PACK_READ_MAX,
};

#define PACK_MAGIC_SNAPPY  "at"
#define PACK_MAGIC_ZSTD    "\x28\xb5\x2f\xfd"
#define PACK_MAGIC_GZIP    "\x1f\x8b"
#define PACK_MAGIC_COLUMNS "\xd7KCL"

/* A zstd file can also begin with a skippable frame: 5x 2a 4d 18. */
#define PACK_MAGIC_ZSTD_SKIP      "\x50\x2a\x4d\x18"
#define PACK_MAGIC_ZSTD_SKIP_MASK 0xf0 /* for the first byte: its other bits can have any value */

enum {
	PACK_MAGIC_BYTES_MAX = 4,

	/* The maximum uncompressed size of a chunk, frame or member written by kymo. */
	PACK_CHUNK_MAX = 1 << 20,

	PACK_LENGTH_BYTES = 4,
	PACK_VARINT_BYTES_MAX = 5, /* maximum size of a varint of 32 bits */

	SNAPPY_BLOCK_MAX = 32 + PACK_CHUNK_MAX + PACK_CHUNK_MAX / 6,

	/* Version of columns, and offsets in the header of a piece. */
	COLUMNS_VERSION = 1,
	COLUMNS_AT_VERSION = 4, /* offset of the version: 1 byte, followed by 3 reserved ones */
	COLUMNS_AT_SIZE = 8,
	COLUMNS_AT_LENGTH = 12, /* offset of the length of the body */
	COLUMNS_AT_CHECKSUM = 16,
	COLUMNS_HEAD_BYTES = 20,

	/*
	 * The maximum size of a body: the data, and 512 bytes, which are more than the lengths of
	 * all streams and the bytes by which the streams exceed the data.
	 */
	COLUMNS_BODY_MAX = PACK_CHUNK_MAX + 512,
};

_Static_assert(SNAPPY_BLOCK_MAX == 1223370, "what readers have room for");

static inline void pack_put_length(uint8_t *to, uint32_t length)
{
	for (unsigned i = 0; i < PACK_LENGTH_BYTES; i++)
		to[i] = (uint8_t)(length >> 8 * i);
}

static inline uint32_t pack_get_length(const uint8_t *from)
{
	uint32_t length = 0;

	for (unsigned i = 0; i < PACK_LENGTH_BYTES; i++)
		length |= (uint32_t)from[i] << 8 * i;
	return length;
}
