/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checksum of a piece is verified first. Then the columns of the piece are joined as a whole.
 * The lengths in a piece are limited, so memory is bounded.
 */
#include <errno.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "reader/columns/columns-join.h"
#include "reader/pack/unpack-method.h"
#include "writer/pack/columns-piece.h"

_Static_assert((int)UNPACK_BEGIN_BYTES >= (int)COLUMNS_HEAD_BYTES, "a beginning shows its lengths");

static const char cut_off[] = "the file is cut off in a piece of columns";
static const char damaged[] = "a damaged piece of columns";

struct unpack_columns {
	struct columns_join *join;
	ZSTD_DCtx *context;
	uint8_t streams[PACK_CHUNK_MAX + COLUMNS_EXTRA_BYTES];
	uint8_t data[PACK_CHUNK_MAX];
	size_t size, given;
};

static void unpack_columns_destroy(void *state)
{
	struct unpack_columns *c = state;

	columns_join_free(c->join);
	ZSTD_freeDCtx(c->context);
	free(c);
}

static void *unpack_columns_create(void)
{
	struct unpack_columns *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->join = columns_join_new();
	c->context = ZSTD_createDCtx();
	if (c->join && c->context)
		return c;
	unpack_columns_destroy(c);
	return NULL;
}

static bool unpack_columns_begins(const uint8_t *p, size_t n)
{
	return n >= COLUMNS_HEAD_BYTES && columns_is_head(p);
}

static void unpack_columns_restart(void *state)
{
	struct unpack_columns *c = state;

	c->size = c->given = 0;
}

/* Parses a varint at *AT, before END. Returns false if it is incomplete or too large for a
 * length. */
static bool unpack_columns_parse_length(const uint8_t **at, const uint8_t *end, size_t *ret)
{
	*ret = 0;
	for (unsigned shift = 0; shift < 7 * PACK_VARINT_BYTES_MAX && *at < end; shift += 7) {
		uint8_t byte = *(*at)++;

		*ret |= (size_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return *ret <= PACK_CHUNK_MAX + COLUMNS_EXTRA_BYTES;
	}
	return false;
}

struct stream_lengths {
	size_t unpacked, packed;
};

/* Decompresses a stream to TO. Returns 0, -EBADMSG or -ENOMEM. */
static int unpack_columns_stream(struct unpack_columns *c, const struct stream_lengths *lengths,
				 const uint8_t *from, uint8_t *to)
{
	size_t n;

	if (lengths->packed == lengths->unpacked) {
		if (lengths->packed > 0)
			memcpy(to, from, lengths->packed);
		return 0;
	}
	n = ZSTD_decompressDCtx(c->context, to, lengths->unpacked, from, lengths->packed);
	if (ZSTD_isError(n))
		return ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation ? -ENOMEM : -EBADMSG;
	return n == lengths->unpacked ? 0 : -EBADMSG;
}

/* Joins the body of N bytes at P into c->data. Returns 0, -EBADMSG or -ENOMEM. */
static int unpack_columns_body(struct unpack_columns *c, const uint8_t *p, size_t n, size_t size)
{
	struct stream_lengths lengths[COLUMNS_STREAM_MAX];
	struct columns_bytes streams[COLUMNS_STREAM_MAX];
	size_t used = 0, room = size + COLUMNS_EXTRA_BYTES;
	const uint8_t *end = p + n;

	for (unsigned i = 0; i < COLUMNS_STREAM_MAX; i++)
		if (!unpack_columns_parse_length(&p, end, &lengths[i].unpacked) ||
		    !unpack_columns_parse_length(&p, end, &lengths[i].packed) ||
		    lengths[i].packed > lengths[i].unpacked)
			return -EBADMSG;
	for (unsigned i = 0; i < COLUMNS_STREAM_MAX; i++) {
		int r;

		if (lengths[i].packed > (size_t)(end - p) || lengths[i].unpacked > room - used)
			return -EBADMSG;
		r = unpack_columns_stream(c, &lengths[i], p, c->streams + used);
		if (r < 0)
			return r;
		streams[i] = (struct columns_bytes){ c->streams + used, lengths[i].unpacked };
		p += lengths[i].packed;
		used += lengths[i].unpacked;
	}
	return p == end ? columns_join(c->join, streams, c->data, size) : -EBADMSG;
}

/* Decompresses the piece whose header is in the input's buffer. Returns 1, or a negative errno. */
static int unpack_columns_piece(struct unpack_columns *c, struct unpack *u)
{
	struct input *in = &u->input;
	size_t size = pack_get_length(input_peek(in) + COLUMNS_AT_SIZE);
	size_t n = COLUMNS_HEAD_BYTES + pack_get_length(input_peek(in) + COLUMNS_AT_LENGTH);
	int r = input_need(in, n);
	const uint8_t *p = input_peek(in);

	if (r <= 0)
		return r < 0 ? r : unpack_fail(u, true, cut_off);
	if (u->searching)
		u->search_work += n;
	if (columns_checksum(p, n, NULL, 0) != pack_get_length(p + COLUMNS_AT_CHECKSUM))
		return unpack_fail(u, false, "a piece of columns with a wrong checksum");
	r = unpack_columns_body(c, p + COLUMNS_HEAD_BYTES, n - COLUMNS_HEAD_BYTES, size);
	if (r < 0)
		return r == -EBADMSG ? unpack_fail(u, false, damaged) : r;
	input_consume(in, n);
	c->size = size;
	c->given = 0;
	return 1;
}

/* Decompresses the next piece. Returns 1, 0 at the end of the input, or a negative errno. */
static int unpack_columns_next(struct unpack_columns *c, struct unpack *u)
{
	struct input *in = &u->input;
	int r = input_need(in, COLUMNS_HEAD_BYTES);
	size_t magic = strlen(PACK_MAGIC_COLUMNS);

	u->piece_offset = in->offset;
	u->ended = r == 0 && input_ready(in) == 0;
	if (r < 0 || u->ended)
		return r;
	if (r == 0)
		return unpack_fail(u, true, cut_off);
	if (columns_is_head(input_peek(in)))
		return unpack_columns_piece(c, u);
	if (memcmp(input_peek(in), PACK_MAGIC_COLUMNS, magic) != 0)
		return unpack_fail(u, false, "data that is not a piece of columns");
	if (input_peek(in)[COLUMNS_AT_VERSION] > COLUMNS_VERSION)
		return unpack_fail(u, false,
				   "a piece of columns of a later version: use a later kymo");
	return unpack_fail(u, false, damaged);
}

static ssize_t unpack_columns_read(void *state, struct unpack *u, uint8_t *to, size_t n)
{
	struct unpack_columns *c = state;

	if (c->given == c->size) {
		int r = unpack_columns_next(c, u);

		if (r <= 0)
			return r;
	}
	if (n > c->size - c->given)
		n = c->size - c->given;
	memcpy(to, c->data + c->given, n);
	c->given += n;
	return (ssize_t)n;
}

const struct unpack_ops unpack_columns_ops = {
	.create = unpack_columns_create,
	.destroy = unpack_columns_destroy,
	.read = unpack_columns_read,
	.begins = unpack_columns_begins,
	.restart = unpack_columns_restart,
	.keep = UNPACK_BEGIN_BYTES,
};
