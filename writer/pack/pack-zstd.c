/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each block is a frame with its uncompressed size and a checksum.
 */
#include <errno.h>
#include <zstd.h>

#include "writer/pack/pack.h"

/* The cheapest level of zstd, since it costs CPU time of the recorded machine. */
enum { LEVEL = 1 };

static void *pack_zstd_create(void)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();

	if (!c)
		return NULL;
	ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	return c;
}

static void pack_zstd_destroy(void *state)
{
	ZSTD_freeCCtx(state);
}

static int pack_zstd_put(void *state, const uint8_t *data, size_t n, bool first, struct outbuf *to)
{
	size_t room = ZSTD_compressBound(n), size;
	uint8_t *p = outbuf_reserve(to, room);

	if (!p)
		return to->error;
	size = ZSTD_compress2(state, p, room, data, n);
	if (ZSTD_isError(size))
		return -ENOMEM; /* no other error is possible */
	to->size -= room - size;
	return 0;
}

static size_t pack_zstd_whole(const uint8_t *data, size_t n, bool first)
{
	size_t done = 0, size;

	while (done < n) {
		size = ZSTD_findFrameCompressedSize(data + done, n - done);
		if (ZSTD_isError(size))
			break;
		done += size;
	}
	return done;
}

const struct pack_ops pack_zstd_ops = {
	.name = "zstd",
	.suffix = ".zst",
	.create = pack_zstd_create,
	.destroy = pack_zstd_destroy,
	.put = pack_zstd_put,
	.whole = pack_zstd_whole,
};
