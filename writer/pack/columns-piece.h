/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The header of a piece of columns, for its writer and its reader (docs/COLUMNS.md).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <zlib.h>

#include "writer/pack/pack-wire.h"

/* Returns true if the COLUMNS_HEAD_BYTES bytes at P can be a header. */
static inline bool columns_is_head(const uint8_t *p)
{
	static const uint8_t begin[COLUMNS_AT_SIZE] = PACK_MAGIC_COLUMNS "\1";
	uint32_t size = pack_get_length(p + COLUMNS_AT_SIZE);
	uint32_t length = pack_get_length(p + COLUMNS_AT_LENGTH);

	_Static_assert(COLUMNS_VERSION == 1, "the byte behind the magic number");
	return memcmp(p, begin, sizeof(begin)) == 0 && size > 0 && size <= PACK_CHUNK_MAX &&
	       length > 0 && length <= COLUMNS_BODY_MAX;
}

/*
 * Returns the checksum of a piece. The checksum covers the bytes before it in HEAD, the bytes of
 * HEAD after the header (N is the number of all bytes of HEAD), and the N_MORE bytes at MORE.
 */
static inline uint32_t columns_checksum(const uint8_t *head, size_t n, const uint8_t *more,
					size_t n_more)
{
	uLong sum = crc32(0, head, COLUMNS_AT_CHECKSUM);

	sum = crc32(sum, head + COLUMNS_HEAD_BYTES, (uInt)(n - COLUMNS_HEAD_BYTES));
	return (uint32_t)(n_more > 0 ? crc32(sum, more, (uInt)n_more) : sum);
}
