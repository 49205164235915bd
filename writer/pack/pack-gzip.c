/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each block is a gzip member. All readers of gzip, such as gzip(1), accept several members in one
 * file.
 */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "writer/pack/pack.h"

/* The level of gzip. In recordings, level 1 takes as long and makes 25% more data, level 6 takes
 * twice as long and makes 10% less. */
enum { LEVEL = 3 };

enum {
	WINDOW_BITS = 15,
	/* Added to the window bits: selects the header of gzip instead of zlib's. */
	GZIP_WRAPPER = 16,
	MEMORY_LEVEL = 8,
};

static void *pack_gzip_create(void)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (z && deflateInit2(z, LEVEL, Z_DEFLATED, WINDOW_BITS + GZIP_WRAPPER, MEMORY_LEVEL,
			      Z_DEFAULT_STRATEGY) != Z_OK) {
		free(z);
		return NULL;
	}
	return z;
}

static void pack_gzip_destroy(void *state)
{
	deflateEnd(state);
	free(state);
}

static int pack_gzip_put(void *state, const uint8_t *data, size_t n, bool first, struct outbuf *to)
{
	z_stream *z = state;
	size_t room;
	uint8_t *p;
	int r;

	deflateReset(z);
	room = deflateBound(z, n);
	p = outbuf_reserve(to, room);
	if (!p)
		return to->error;
	z->next_in = (Bytef *)data;
	z->avail_in = (uInt)n;
	z->next_out = p;
	z->avail_out = (uInt)room;
	r = deflate(z, Z_FINISH);
	to->size -= z->avail_out;
	return r == Z_STREAM_END ? 0 : -EIO;
}

/*
 * Returns the size of the member at the beginning of the N bytes at DATA, or 0 if it is not
 * complete. Only decompression can find its end.
 */
static size_t pack_gzip_whole_member(z_stream *z, const uint8_t *data, size_t n)
{
	uint8_t nowhere[16 << 10];
	int r;

	inflateReset(z);
	z->next_in = (Bytef *)data;
	z->avail_in = (uInt)n;
	do {
		z->next_out = nowhere;
		z->avail_out = sizeof(nowhere);
		r = inflate(z, Z_NO_FLUSH);
	} while (r == Z_OK);
	return r == Z_STREAM_END ? n - z->avail_in : 0;
}

static size_t pack_gzip_whole(const uint8_t *data, size_t n, bool first)
{
	size_t done = 0, size;
	z_stream z = { 0 };

	if (inflateInit2(&z, WINDOW_BITS + GZIP_WRAPPER) != Z_OK)
		return 0;
	do {
		size = done < n ? pack_gzip_whole_member(&z, data + done, n - done) : 0;
		done += size;
	} while (size > 0);
	inflateEnd(&z);
	return done;
}

const struct pack_ops pack_gzip_ops = {
	.name = "gzip",
	.suffix = ".gz",
	.create = pack_gzip_create,
	.destroy = pack_gzip_destroy,
	.put = pack_gzip_put,
	.whole = pack_gzip_whole,
};
