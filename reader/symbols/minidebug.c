/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/minidebug.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include "base/outbuf.h"

enum { STEP = 256 * 1024 };

/* The maximum memory of the decoder: enough for the window of xz -9. */
#define WINDOW_MAX ((uint64_t)80 << 20)

static int minidebug_unpack(lzma_stream *stream, struct outbuf *out, const char **reterr_what)
{
	lzma_ret code;

	do {
		uint8_t *to = outbuf_reserve(out, STEP);

		if (!to) {
			*reterr_what = "its .gnu_debugdata exceeds the memory limit";
			return out->error == -ENOMEM ? -ENOMEM : -EBADMSG;
		}
		stream->next_out = to;
		stream->avail_out = STEP;
		code = lzma_code(stream, LZMA_FINISH);
		out->size -= stream->avail_out;
	} while (code == LZMA_OK);
	if (code == LZMA_MEM_ERROR)
		return -ENOMEM;
	*reterr_what = "its .gnu_debugdata is damaged";
	return code == LZMA_STREAM_END ? 0 : -EBADMSG;
}

int minidebug_open(struct elf_file **ret, const struct elf_file *f, size_t max,
		   const char **reterr_what)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	struct outbuf out = { .limit = max };
	size_t n = 0;
	const void *packed = elf_file_content(f, ".gnu_debugdata", max, &n);
	int r;

	if (!packed)
		return 0;
	if (lzma_stream_decoder(&stream, WINDOW_MAX, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = packed;
	stream.avail_in = n;
	r = minidebug_unpack(&stream, &out, reterr_what);
	lzma_end(&stream);
	if (r < 0) {
		outbuf_deinit(&out);
		return r;
	}
	/* The callee takes ownership of the buffer. */
	return elf_file_open_memory(ret, (char *)out.data, out.size, reterr_what) ?: 1;
}
