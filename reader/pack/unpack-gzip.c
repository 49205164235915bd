/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file consists of members, as for gzip(1). Zero bytes after the last member are padding.
 */
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "reader/pack/unpack-method.h"

enum {
	WINDOW_BITS = 15,
	/* Added to the window bits: selects the header of gzip instead of zlib's. */
	GZIP_WRAPPER = 16,
};

/* Values in a member's header: the method deflate, and the highest known flags. */
enum { GZIP_DEFLATE = 8, GZIP_FLAGS_MAX = 0x1f };

struct state {
	z_stream z;
};

static void *unpack_gzip_create(void)
{
	struct state *s = calloc(1, sizeof(*s));

	if (s && inflateInit2(&s->z, WINDOW_BITS + GZIP_WRAPPER) != Z_OK) {
		free(s);
		return NULL;
	}
	return s;
}

static void unpack_gzip_destroy(void *state)
{
	struct state *s = state;

	inflateEnd(&s->z);
	free(s);
}

static bool gzip_begins(const uint8_t *p, size_t n)
{
	size_t magic = strlen(PACK_MAGIC_GZIP);

	return n >= magic + 2 && memcmp(p, PACK_MAGIC_GZIP, magic) == 0 &&
	       p[magic] == GZIP_DEFLATE && p[magic + 1] <= GZIP_FLAGS_MAX;
}

static void gzip_restart(void *state)
{
	(void)state; /* the state is reset at the beginning of each member */
}

/* Begins the next member. Returns 1, 0 at the end of the file, or a negative errno. */
static int gzip_begin_member(struct state *s, struct unpack *u)
{
	struct input *in = &u->input;
	int r;

	u->piece_offset = in->offset;
	while ((r = input_need(in, 1)) > 0 && *input_peek(in) == 0)
		input_consume(in, 1);
	u->ended = r == 0;
	if (r <= 0)
		return r;
	if (u->piece_offset != in->offset)
		return unpack_fail(u, false, "data after the padding of a gzip file");
	u->inside = true;
	inflateReset(&s->z);
	return 1;
}

/* Returns true if the checksum or length at the end of a member is wrong. */
static bool gzip_is_wrong_check(const z_stream *z)
{
	return z->msg && (strcmp(z->msg, "incorrect data check") == 0 ||
			  strcmp(z->msg, "incorrect length check") == 0);
}

static ssize_t gzip_read(void *state, struct unpack *u, uint8_t *to, size_t n)
{
	struct input *in = &u->input;
	struct state *s = state;
	z_stream *z = &s->z;

	for (;;) {
		size_t ready;
		int r = u->inside ? input_need(in, 1) : gzip_begin_member(s, u);

		if (r < 0 || !u->inside)
			return r;
		ready = input_ready(in);
		z->next_in = (Bytef *)input_peek(in);
		z->avail_in = ready < UINT32_MAX ? (uInt)ready : UINT32_MAX;
		ready = z->avail_in;
		z->next_out = to;
		z->avail_out = n < UINT32_MAX ? (uInt)n : UINT32_MAX;
		n = z->avail_out;
		r = inflate(z, Z_NO_FLUSH);
		input_consume(in, ready - z->avail_in);
		if (r == Z_STREAM_END)
			u->inside = false;
		/* Errors that follow this output are reported again by the next call. */
		if (n > z->avail_out || r == Z_STREAM_END)
			return (ssize_t)(n - z->avail_out);
		if (r == Z_MEM_ERROR)
			return -ENOMEM;
		if (r == Z_BUF_ERROR && in->eof)
			return unpack_fail(u, true, "the file is cut off in a gzip member");
		if (r != Z_OK && r != Z_BUF_ERROR) {
			bool check = gzip_is_wrong_check(z);

			unpack_fail(u, false, "a damaged gzip member");
			u->bad_checksum = check;
			return -EBADMSG;
		}
	}
}

const struct unpack_ops unpack_gzip_ops = {
	.create = unpack_gzip_create,
	.destroy = unpack_gzip_destroy,
	.read = gzip_read,
	.begins = gzip_begins,
	.restart = gzip_restart,
	.keep = PACK_CHUNK_MAX + PACK_CHUNK_MAX / 16,
	.staged = true,
};
