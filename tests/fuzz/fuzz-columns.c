/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits the input into columns and joins them: the result must be the same. Then joins invalid
 * columns: the input as streams, and as the body of a piece with a correct checksum.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/columns/columns-join.h"
#include "reader/pack/unpack.h"
#include "writer/columns/columns-split.h"
#include "writer/pack/columns-piece.h"

enum { DATA_MAX = 1 << 16, LENGTHS_BYTES = 2 * COLUMNS_STREAM_MAX };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t joined[DATA_MAX];

static void fuzz_identity(struct columns_join *j, const uint8_t *data, size_t size)
{
	static struct columns_split *s;
	struct columns_bytes streams[COLUMNS_STREAM_MAX];
	int r;

	if (!s)
		s = columns_split_new(DATA_MAX);
	assert(s);
	columns_split(s, data, size, streams);
	r = columns_join(j, streams, joined, size);
	assert(r == 0);
	assert(size == 0 || memcmp(joined, data, size) == 0);
}

/* The lengths of the streams, 16 bits each, and then the streams. */
static void fuzz_streams(struct columns_join *j, const uint8_t *data, size_t size)
{
	struct columns_bytes streams[COLUMNS_STREAM_MAX];
	size_t at = LENGTHS_BYTES;
	int r;

	if (size < LENGTHS_BYTES)
		return;
	for (unsigned i = 0; i < COLUMNS_STREAM_MAX; i++) {
		size_t n = data[2 * i] | (size_t)data[2 * i + 1] << 8;

		if (n > size - at)
			n = size - at;
		streams[i] = (struct columns_bytes){ data + at, n };
		at += n;
	}
	r = columns_join(j, streams, joined, 4096);
	assert(r == 0 || r == -EBADMSG);
}

static void fuzz_body(const uint8_t *data, size_t size)
{
	static uint8_t piece[COLUMNS_HEAD_BYTES + DATA_MAX] = PACK_MAGIC_COLUMNS "\1";
	_cleanup_(unpack_freep) struct unpack *u = NULL;
	size_t given = 0;
	ssize_t n;

	if (size == 0)
		return;
	memcpy(piece + COLUMNS_HEAD_BYTES, data, size);
	pack_put_length(piece + COLUMNS_AT_SIZE, 1 + data[0] * 257u);
	pack_put_length(piece + COLUMNS_AT_LENGTH, (uint32_t)size);
	pack_put_length(piece + COLUMNS_AT_CHECKSUM,
			columns_checksum(piece, COLUMNS_HEAD_BYTES + size, NULL, 0));
	if (unpack_new_memory(&u, piece, COLUMNS_HEAD_BYTES + size) != 0)
		return;
	while ((n = unpack_read(u, joined, sizeof(joined))) > 0)
		given += (size_t)n;
	assert(n == 0);
	assert(given == 0 ? unpack_damage(u) != NULL : given == 1 + data[0] * 257u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct columns_join *j;

	if (!j)
		j = columns_join_new();
	assert(j);
	if (size > DATA_MAX)
		return 0;
	fuzz_identity(j, data, size);
	fuzz_streams(j, data, size);
	fuzz_body(data, size);
	return 0;
}
