/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A chunk is decompressed as a whole. Both its lengths are checked before memory is allocated. If a
 * chunk is damaged or truncated, the part before the damage is decompressed without the library.
 */
#include <errno.h>
#include <snappy-c.h>
#include <string.h>

#include "reader/pack/unpack-method.h"

/*
 * Snappy has no checksum, so a small block that can be decompressed may be a coincidence. In a
 * search, a block of fewer bytes is accepted only if another block or the end of the input follows.
 */
enum { SURE_BYTES = 64 };

/* Snappy's best ratio is a copy of 64 bytes in 3 bytes. A chunk that claims more is damaged. */
enum { RATIO_MAX = 64 / 3 + 1 };

static const char cut_off[] = "the file is cut off in a Snappy chunk";

struct state {
	uint8_t *data; /* the decompressed chunk; owned */
	size_t room, size, given;
	bool begun; /* the magic number was read */
	bool late;  /* the data are from a damaged chunk, whose damage is reported later */
};

static void *unpack_snappy_create(void)
{
	return calloc(1, sizeof(struct state));
}

static void unpack_snappy_destroy(void *state)
{
	struct state *s = state;

	free(s->data);
	free(s);
}

static int unpack_snappy_make_room(struct state *s, size_t size)
{
	uint8_t *data;

	if (size <= s->room)
		return 0;
	data = realloc(s->data, size);
	if (!data)
		return -ENOMEM;
	s->data = data;
	s->room = size;
	return 0;
}

static bool unpack_snappy_begins(const uint8_t *p, size_t n)
{
	size_t length, size, head = n < UNPACK_BEGIN_BYTES ? n : UNPACK_BEGIN_BYTES;

	if (n <= PACK_LENGTH_BYTES)
		return false;
	length = pack_get_length(p);
	if (length == 0 || length > SNAPPY_BLOCK_MAX)
		return false;
	head -= PACK_LENGTH_BYTES;
	return snappy_uncompressed_length((const char *)p + PACK_LENGTH_BYTES,
					  length < head ? length : head, &size) == SNAPPY_OK &&
	       size > 0 && size <= RATIO_MAX * length;
}

static void unpack_snappy_restart(void *state)
{
	struct state *s = state;

	s->size = s->given = 0;
	s->begun = true;
	s->late = false;
}

/*
 * Finds out whether another block or the end of the input follows after LENGTH bytes. Returns 1, 0,
 * or a negative errno.
 */
static int unpack_is_followed(struct unpack *u, size_t length)
{
	struct input *in = &u->input;
	int r = input_need(in, length + UNPACK_BEGIN_BYTES);

	if (r < 0 || input_ready(in) == length)
		return r < 0 ? r : 1;
	return unpack_snappy_begins(input_peek(in) + length, input_ready(in) - length);
}

/* The lowest two bits of a tag. */
enum { TAG_LITERAL = 0, TAG_COPY_1 = 1, TAG_COPY_2 = 2, TAG_COPY_4 = 3, TAG_LITERAL_LONG = 60 };

/* Parses N little-endian bytes. */
static size_t unpack_get_number(const uint8_t *p, size_t n)
{
	size_t number = 0;

	for (size_t i = 0; i < n; i++)
		number |= (size_t)p[i] << 8 * i;
	return number;
}

/* A tag: LENGTH bytes are copied from the block (if LITERAL), or from the output, OFFSET bytes
 * before its end. */
struct tag {
	size_t length, offset;
	bool literal;
};

/* Parses the tag at *AT of the block of N bytes at P. Returns false if it is truncated. */
static bool unpack_parse_tag(const uint8_t *p, size_t n, size_t *at, struct tag *ret)
{
	unsigned tag = p[*at] & 3, high = p[*at] >> 2;
	size_t extra = tag == TAG_COPY_4 ? 4 : tag;

	++*at;
	*ret = (struct tag){ .length = high + 1, .literal = tag == TAG_LITERAL };
	if (tag == TAG_LITERAL && high >= TAG_LITERAL_LONG)
		extra = high - TAG_LITERAL_LONG + 1;
	if (extra > n - *at)
		return false;
	if (tag == TAG_LITERAL && extra > 0)
		ret->length = unpack_get_number(p + *at, extra) + 1;
	else if (tag == TAG_COPY_1)
		ret->offset = (high >> 3) << 8 | p[*at];
	else if (tag != TAG_LITERAL)
		ret->offset = unpack_get_number(p + *at, extra);
	if (tag == TAG_COPY_1)
		ret->length = (high & 7) + 4;
	*at += extra;
	return true;
}

/* Returns the position after the size at the beginning of the block of N bytes at P. */
static size_t unpack_skip_size(const uint8_t *p, size_t n)
{
	size_t at = 0;

	while (at < n && p[at++] >= 0x80)
		;
	return at;
}

/*
 * Returns true if the block of N bytes at P produces exactly SIZE bytes, and copies only existing
 * data. Adds its number of tags to *WORK.
 */
static bool unpack_adds_up(const uint8_t *p, size_t n, size_t size, uint64_t *work)
{
	size_t at = unpack_skip_size(p, n), made = 0;
	struct tag tag;

	while (at < n) {
		++*work;
		if (!unpack_parse_tag(p, n, &at, &tag) || tag.length > size - made)
			return false;
		if (tag.literal ? tag.length > n - at : tag.offset == 0 || tag.offset > made)
			return false;
		at += tag.literal ? tag.length : 0;
		made += tag.length;
	}
	return made == size;
}

/* Decompresses the block of N bytes at P up to damage, at most SIZE bytes. Returns the number of
 * bytes. */
static size_t unpack_snappy_salvage(const uint8_t *p, size_t n, uint8_t *to, size_t size)
{
	size_t at = unpack_skip_size(p, n), made = 0;
	struct tag tag;

	while (at < n && unpack_parse_tag(p, n, &at, &tag) && tag.length <= size - made) {
		if (tag.literal) {
			if (tag.length > n - at)
				tag.length = n - at;
			memcpy(to + made, p + at, tag.length);
			at += tag.length;
			made += tag.length;
			continue;
		}
		if (tag.offset == 0 || tag.offset > made)
			break;
		for (; tag.length > 0; tag.length--, made++)
			to[made] = to[made - tag.offset];
	}
	return made;
}

/*
 * Returns the part of a chunk before its damage, which the caller has reported. LENGTH bytes of the
 * chunk are available. Returns 1, or -EBADMSG if there are no data before the damage.
 */
static int unpack_return_part(struct state *s, struct unpack *u, size_t length)
{
	const uint8_t *block = input_peek(&u->input);
	size_t size;

	if (u->searching ||
	    snappy_uncompressed_length((const char *)block, length, &size) != SNAPPY_OK ||
	    size == 0)
		return -EBADMSG;
	if (size > RATIO_MAX * length)
		size = RATIO_MAX * length;
	if (unpack_snappy_make_room(s, size) < 0)
		return -ENOMEM;
	s->size = unpack_snappy_salvage(block, length, s->data, size);
	s->given = 0;
	s->late = s->size > 0;
	return s->late ? 1 : -EBADMSG;
}

/* Decompresses the block of LENGTH bytes. All its bytes are available. */
static int unpack_block(struct state *s, struct unpack *u, size_t length)
{
	int r = u->searching && length < SURE_BYTES ? unpack_is_followed(u, length) : 1;
	const char *block = (const char *)input_peek(&u->input);
	size_t size;

	if (r < 0)
		return r;
	if (r == 0)
		return unpack_fail(u, false, "a Snappy chunk with an invalid copy");
	if (snappy_uncompressed_length(block, length, &size) != SNAPPY_OK)
		return unpack_fail(u, false, "a Snappy chunk that does not begin with its size");
	if (size == 0)
		return unpack_fail(u, false, "an empty Snappy chunk");
	if (size > RATIO_MAX * length)
		return unpack_fail(u, false,
				   "a Snappy chunk that claims more data than it "
				   "can contain");
	/* In a search, most candidates are not chunks. This check rejects them quickly. */
	if (u->searching && !unpack_adds_up((const uint8_t *)block, length, size, &u->search_work))
		return unpack_fail(u, false, "a damaged Snappy chunk");
	if (u->searching)
		u->search_work += length;
	r = unpack_snappy_make_room(s, size);
	if (r < 0)
		return r;
	if (snappy_uncompress(block, length, (char *)s->data, &size) != SNAPPY_OK) {
		unpack_fail(u, false, "a damaged Snappy chunk");
		return unpack_return_part(s, u, length);
	}
	input_consume(&u->input, length);
	s->size = size;
	s->given = 0;
	return 1;
}

/* Reads the next chunk. Returns 1, 0 at the end of the input, or a negative errno. */
static int unpack_next_chunk(struct state *s, struct unpack *u)
{
	struct input *in = &u->input;
	size_t length;
	int r;

	if (!s->begun)
		input_consume(in, strlen(PACK_MAGIC_SNAPPY));
	s->begun = true;
	u->piece_offset = in->offset;
	r = input_need(in, PACK_LENGTH_BYTES);
	u->ended = r == 0 && input_ready(in) == 0;
	if (r < 0 || u->ended)
		return r;
	if (r == 0)
		return unpack_fail(u, true, cut_off);
	length = pack_get_length(input_peek(in));
	if (length == 0 || length > SNAPPY_BLOCK_MAX)
		return unpack_fail(u, false, "a Snappy chunk of an impossible size");
	input_consume(in, PACK_LENGTH_BYTES);
	r = input_need(in, length);
	if (r == 0) {
		unpack_fail(u, true, cut_off);
		return unpack_return_part(s, u, input_ready(in));
	}
	return r < 0 ? r : unpack_block(s, u, length);
}

static ssize_t unpack_snappy_read(void *state, struct unpack *u, uint8_t *to, size_t n)
{
	struct state *s = state;

	if (s->given == s->size && s->late) {
		s->late = false;
		u->bad.unpacked_offset = u->given;
		return -EBADMSG;
	}
	if (s->given == s->size) {
		int r = unpack_next_chunk(s, u);

		if (r <= 0)
			return r;
	}
	if (n > s->size - s->given)
		n = s->size - s->given;
	memcpy(to, s->data + s->given, n);
	s->given += n;
	return (ssize_t)n;
}

const struct unpack_ops unpack_snappy_ops = {
	.create = unpack_snappy_create,
	.destroy = unpack_snappy_destroy,
	.read = unpack_snappy_read,
	.begins = unpack_snappy_begins,
	.restart = unpack_snappy_restart,
	.keep = UNPACK_BEGIN_BYTES,
};
