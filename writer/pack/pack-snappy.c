/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Snappy has no state between blocks. The struct only has the buffer for the output.
 */
#include <errno.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>

#include "writer/pack/pack.h"

static void *pack_snappy_create(void)
{
	return malloc(SNAPPY_BLOCK_MAX);
}

static int pack_snappy_put(void *state, const uint8_t *data, size_t n, bool first,
			   struct outbuf *to)
{
	uint8_t length[PACK_LENGTH_BYTES];
	size_t size = SNAPPY_BLOCK_MAX;

	if (snappy_compress((const char *)data, n, state, &size) != SNAPPY_OK)
		return -EIO;
	if (first)
		outbuf_append(to, PACK_MAGIC_SNAPPY, strlen(PACK_MAGIC_SNAPPY));
	pack_put_length(length, (uint32_t)size);
	outbuf_append(to, length, sizeof(length));
	return outbuf_append(to, state, size);
}

static size_t pack_snappy_whole(const uint8_t *data, size_t n, bool first)
{
	size_t done = first ? strlen(PACK_MAGIC_SNAPPY) : 0, size;

	if (first && (n < done || memcmp(data, PACK_MAGIC_SNAPPY, done) != 0))
		return 0;
	while (n - done >= PACK_LENGTH_BYTES) {
		size = pack_get_length(data + done);
		if (size == 0 || size > SNAPPY_BLOCK_MAX || size > n - done - PACK_LENGTH_BYTES)
			break;
		done += PACK_LENGTH_BYTES + size;
	}
	return done;
}

const struct pack_ops pack_snappy_ops = {
	.name = "snappy",
	.suffix = ".sz",
	.create = pack_snappy_create,
	.destroy = free,
	.put = pack_snappy_put,
	.whole = pack_snappy_whole,
};
