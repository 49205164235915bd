/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Members one after the other, as gzip(1) reads them; zeros behind the last one are padding.
 */
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "reader/pack/unpack-method.h"

enum {
	WINDOW_BITS = 15,
	GZIP_WRAPPER = 16, /* added to the window: a gzip header, not one of zlib */
};

struct state {
	z_stream z;
	bool inside; /* a member */
};

static void *gzip_create(void)
{
	struct state *s = calloc(1, sizeof(*s));

	if (s && inflateInit2(&s->z, WINDOW_BITS + GZIP_WRAPPER) != Z_OK) {
		free(s);
		return NULL;
	}
	return s;
}

static void gzip_destroy(void *state)
{
	struct state *s = state;

	inflateEnd(&s->z);
	free(s);
}

/* Between members: returns 1 if there is another one, 0 at the end, or a negative errno. */
static int begin_member(struct state *s, struct unpack *u)
{
	struct input *in = &u->input;
	int r;

	u->piece_offset = in->offset;
	while ((r = input_need(in, 1)) > 0 && *input_peek(in) == 0)
		input_take(in, 1);
	if (r <= 0)
		return r;
	if (u->piece_offset != in->offset)
		return unpack_give_up(u, false, "something behind the padding of a gzip file");
	s->inside = true;
	inflateReset(&s->z);
	return 1;
}

static ssize_t gzip_read(void *state, struct unpack *u, uint8_t *to, size_t n)
{
	struct input *in = &u->input;
	struct state *s = state;
	z_stream *z = &s->z;

	for (;;) {
		size_t ready;
		int r = s->inside ? input_need(in, 1) : begin_member(s, u);

		if (r < 0 || !s->inside)
			return r;
		ready = input_ready(in);
		z->next_in = (Bytef *)input_peek(in);
		z->avail_in = (uInt)ready;
		z->next_out = to;
		z->avail_out = n < UINT32_MAX ? (uInt)n : UINT32_MAX;
		n = z->avail_out;
		r = inflate(z, Z_NO_FLUSH);
		input_take(in, ready - z->avail_in);
		if (r == Z_STREAM_END)
			s->inside = false;
		if (n > z->avail_out)
			return (ssize_t)(n - z->avail_out);
		if (r == Z_MEM_ERROR)
			return -ENOMEM;
		if (r == Z_BUF_ERROR && in->eof)
			return unpack_give_up(u, true, "the file is cut off in a gzip member");
		if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
			return unpack_give_up(u, false, "a damaged gzip member");
	}
}

const struct unpack_ops unpack_gzip_ops = {
	.create = gzip_create,
	.destroy = gzip_destroy,
	.read = gzip_read,
};
