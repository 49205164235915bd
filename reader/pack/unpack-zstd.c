/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file consists of frames. The window that a frame can request is limited, so memory is bounded.
 */
#include <errno.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "reader/pack/unpack-method.h"

/* 128 MiB, the default limit of zstd(1). */
enum { WINDOW_LOG_MAX = 27 };

static const char cut_off[] = "the file is cut off in a zstd frame";

struct state {
	ZSTD_DCtx *context;
	size_t failed; /* an error that is reported after the returned data; 0 = no error */
};

static void unpack_zstd_destroy(void *state)
{
	struct state *s = state;

	ZSTD_freeDCtx(s->context);
	free(s);
}

static void *unpack_zstd_create(void)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->context = ZSTD_createDCtx();
	if (!s->context) {
		free(s);
		return NULL;
	}
	ZSTD_DCtx_setParameter(s->context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	return s;
}

static int unpack_zstd_fail(struct unpack *u, size_t code)
{
	int r;

	switch (ZSTD_getErrorCode(code)) {
	case ZSTD_error_memory_allocation:
		return -ENOMEM;
	case ZSTD_error_frameParameter_windowTooLarge:
		return unpack_fail(u, false, "a zstd frame that needs more than 128 MiB");
	case ZSTD_error_checksum_wrong:
		r = unpack_fail(u, false, "a zstd frame with a wrong checksum");
		u->bad_checksum = true;
		return r;
	default:
		return unpack_fail(u, false, "a damaged zstd frame");
	}
}

static bool unpack_zstd_begins(const uint8_t *p, size_t n)
{
	/* Skippable frames are not accepted, since nothing in them can be checked. */
	return n >= strlen(PACK_MAGIC_ZSTD) &&
	       memcmp(p, PACK_MAGIC_ZSTD, strlen(PACK_MAGIC_ZSTD)) == 0;
}

static void unpack_zstd_restart(void *state)
{
	struct state *s = state;

	s->failed = 0;
	ZSTD_DCtx_reset(s->context, ZSTD_reset_session_only);
}

/* Begins the next frame. Returns 1, 0 at the end of the file, or a negative errno. */
static int unpack_zstd_begin_frame(struct unpack *u)
{
	struct input *in = &u->input;
	int r = input_need(in, PACK_MAGIC_BYTES_MAX);

	u->piece_offset = in->offset;
	u->ended = r == 0 && input_ready(in) == 0;
	if (r < 0 || u->ended)
		return r;
	if (r == 0)
		return unpack_fail(u, true, cut_off);
	/* The magic number is checked here, since the library also decompresses frames of its early
	 * versions. */
	if (!unpack_at_zstd_frame(in))
		return unpack_fail(u, false, "data that is not a zstd frame");
	u->inside = true;
	return 1;
}

static ssize_t unpack_zstd_read(void *state, struct unpack *u, uint8_t *to, size_t n)
{
	struct input *in = &u->input;
	ZSTD_outBuffer out = { .dst = to, .size = n };
	struct state *s = state;

	if (s->failed)
		return unpack_zstd_fail(u, s->failed);
	for (;;) {
		ZSTD_inBuffer from;
		size_t code;
		int r = u->inside ? input_need(in, 1) : unpack_zstd_begin_frame(u);

		if (r < 0 || !u->inside)
			return r;
		/* The library is called even if no input is left, since it can still have
		 * output. */
		from = (ZSTD_inBuffer){ .src = input_peek(in), .size = input_ready(in) };
		code = ZSTD_decompressStream(s->context, &out, &from);
		input_consume(in, from.pos);
		if (ZSTD_isError(code)) {
			s->failed = code;
			return out.pos > 0 ? (ssize_t)out.pos : unpack_zstd_fail(u, code);
		}
		u->inside = code != 0;
		if (out.pos > 0 || !u->inside)
			return (ssize_t)out.pos;
		if (r == 0)
			return unpack_fail(u, true, cut_off);
	}
}

const struct unpack_ops unpack_zstd_ops = {
	.create = unpack_zstd_create,
	.destroy = unpack_zstd_destroy,
	.read = unpack_zstd_read,
	.begins = unpack_zstd_begins,
	.restart = unpack_zstd_restart,
	.keep = PACK_CHUNK_MAX + PACK_CHUNK_MAX / 16,
	.staged = true,
};
