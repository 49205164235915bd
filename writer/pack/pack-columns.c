/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each block is one piece (docs/COLUMNS.md). Its columns are zstd frames, or stored uncompressed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <zstd.h>

#include "writer/columns/columns-split.h"
#include "writer/pack/columns-piece.h"
#include "writer/pack/pack.h"

/* The level of zstd. In recordings, level 3 takes 25% longer and saves 1%. */
enum { LEVEL = 1 };

/* The minimum size of a compressed stream. Shorter streams save less than the header of a frame. */
enum { FRAME_BYTES_MIN = 32 };

struct pack_columns {
	struct columns_split *split;
	ZSTD_CCtx *context;
	struct outbuf frames;
};

static void pack_columns_destroy(void *state)
{
	struct pack_columns *p = state;

	columns_split_free(p->split);
	ZSTD_freeCCtx(p->context);
	outbuf_deinit(&p->frames);
	free(p);
}

static void *pack_columns_create(void)
{
	struct pack_columns *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->split = columns_split_new(PACK_CHUNK_MAX);
	p->context = ZSTD_createCCtx();
	if (p->split && p->context) {
		ZSTD_CCtx_setParameter(p->context, ZSTD_c_compressionLevel, LEVEL);
		return p;
	}
	pack_columns_destroy(p);
	return NULL;
}

/* Appends STREAM to the frames. Returns its compressed size, or a negative errno. */
static ssize_t pack_columns_stream(struct pack_columns *p, const struct columns_bytes *stream)
{
	size_t room = ZSTD_compressBound(stream->n), size = stream->n;
	uint8_t *at = outbuf_reserve(&p->frames, room);

	if (!at)
		return p->frames.error;
	if (stream->n >= FRAME_BYTES_MIN)
		size = ZSTD_compress2(p->context, at, room, stream->data, stream->n);
	if (ZSTD_isError(size))
		return -ENOMEM; /* no other error is possible */
	if (size >= stream->n) {
		size = stream->n;
		if (size > 0)
			memcpy(at, stream->data, size);
	}
	p->frames.size -= room - size;
	return (ssize_t)size;
}

static uint8_t *pack_columns_varint(uint8_t *to, uint32_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (uint8_t)(value | 0x80);
	*to++ = (uint8_t)value;
	return to;
}

static int pack_columns_put(void *state, const uint8_t *data, size_t n, bool first,
			    struct outbuf *to)
{
	uint8_t head[COLUMNS_HEAD_BYTES + 2 * COLUMNS_STREAM_MAX * PACK_VARINT_BYTES_MAX] = { 0 };
	uint8_t *end = head + COLUMNS_HEAD_BYTES;
	struct columns_bytes streams[COLUMNS_STREAM_MAX];
	struct pack_columns *p = state;

	outbuf_reset(&p->frames);
	columns_split(p->split, data, n, streams);
	for (unsigned i = 0; i < COLUMNS_STREAM_MAX; i++) {
		ssize_t size = pack_columns_stream(p, &streams[i]);

		if (size < 0)
			return (int)size;
		end = pack_columns_varint(end, (uint32_t)streams[i].n);
		end = pack_columns_varint(end, (uint32_t)size);
	}
	memcpy(head, PACK_MAGIC_COLUMNS, strlen(PACK_MAGIC_COLUMNS));
	head[COLUMNS_AT_VERSION] = COLUMNS_VERSION;
	pack_put_length(head + COLUMNS_AT_SIZE, (uint32_t)n);
	pack_put_length(head + COLUMNS_AT_LENGTH,
			(uint32_t)((size_t)(end - head) - COLUMNS_HEAD_BYTES + p->frames.size));
	pack_put_length(head + COLUMNS_AT_CHECKSUM,
			columns_checksum(head, (size_t)(end - head), p->frames.data,
					 p->frames.size));
	outbuf_append(to, head, (size_t)(end - head));
	return outbuf_append(to, p->frames.data, p->frames.size);
}

static size_t pack_columns_whole(const uint8_t *data, size_t n, bool first)
{
	size_t done = 0, size;

	while (n - done >= COLUMNS_HEAD_BYTES && columns_is_head(data + done)) {
		size = COLUMNS_HEAD_BYTES + pack_get_length(data + done + COLUMNS_AT_LENGTH);
		if (size > n - done)
			break;
		done += size;
	}
	return done;
}

const struct pack_ops pack_columns_ops = {
	.name = "columns",
	.suffix = ".cols",
	.create = pack_columns_create,
	.destroy = pack_columns_destroy,
	.put = pack_columns_put,
	.whole = pack_columns_whole,
};
