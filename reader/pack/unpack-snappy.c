/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A chunk is unpacked as a whole. Both its lengths are checked before anything is made as large as
 * they say.
 */
#include <errno.h>
#include <snappy-c.h>
#include <string.h>

#include "reader/pack/unpack-method.h"

/* There is no checksum: a shorter block that can be unpacked may be chance, when it was searched for. */
enum { SURE_BYTES = 64 };

/* Snappy's best is a copy of 64 bytes for 3: who claims more lies. */
enum { RATIO_MAX = 64 / 3 + 1 };

static const char cut_off[] = "the file is cut off in a Snappy chunk";

struct state {
	uint8_t *data; /* the chunk, unpacked. Owned */
	size_t room, size, given;
	bool begun; /* the magic number was taken */
};

static void *snappy_create(void)
{
	return calloc(1, sizeof(struct state));
}

static void snappy_destroy(void *state)
{
	struct state *s = state;

	free(s->data);
	free(s);
}

static int make_room(struct state *s, size_t size)
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

static bool snappy_begins(const uint8_t *p, size_t n)
{
	size_t length, size, head = n < UNPACK_BEGIN_BYTES ? n : UNPACK_BEGIN_BYTES;

	if (n <= SNAPPY_LENGTH_BYTES)
		return false;
	length = snappy_get_length(p);
	if (length == 0 || length > SNAPPY_BLOCK_MAX)
		return false;
	head -= SNAPPY_LENGTH_BYTES;
	return snappy_uncompressed_length((const char *)p + SNAPPY_LENGTH_BYTES,
					  length < head ? length : head, &size) == SNAPPY_OK &&
	       size > 0 && size <= RATIO_MAX * length;
}

static void snappy_restart(void *state)
{
	struct state *s = state;

	s->size = s->given = 0;
	s->begun = true;
}

/* Behind the block of LENGTH bytes another one begins, or the input ends. Returns 1, 0, or a negative
 * errno. */
static int is_followed(struct unpack *u, size_t length)
{
	struct input *in = &u->input;
	int r = input_need(in, length + UNPACK_BEGIN_BYTES);

	if (r < 0 || input_ready(in) == length)
		return r < 0 ? r : 1;
	return snappy_begins(input_peek(in) + length, input_ready(in) - length);
}

/* Unpacks the LENGTH bytes that are ready. */
static int unpack_block(struct state *s, struct unpack *u, size_t length)
{
	int r = u->searching && length < SURE_BYTES ? is_followed(u, length) : 1;
	const char *block = (const char *)input_peek(&u->input);
	size_t size;

	if (r < 0)
		return r;
	if (r == 0)
		return unpack_give_up(u, false, "a Snappy chunk that leads nowhere");
	if (u->searching)
		u->search_work += length;
	if (snappy_uncompressed_length(block, length, &size) != SNAPPY_OK)
		return unpack_give_up(u, false, "a Snappy chunk that does not begin with its size");
	if (size == 0)
		return unpack_give_up(u, false, "a Snappy chunk with nothing in it");
	if (size > RATIO_MAX * length)
		return unpack_give_up(u, false, "a Snappy chunk that claims more than it can hold");
	r = make_room(s, size);
	if (r < 0)
		return r;
	if (snappy_uncompress(block, length, (char *)s->data, &size) != SNAPPY_OK)
		return unpack_give_up(u, false, "a damaged Snappy chunk");
	input_take(&u->input, length);
	s->size = size;
	s->given = 0;
	return 1;
}

/* Returns 1, 0 at the end of the input, or a negative errno. */
static int next_chunk(struct state *s, struct unpack *u)
{
	struct input *in = &u->input;
	size_t length;
	int r;

	if (!s->begun)
		input_take(in, strlen(PACK_MAGIC_SNAPPY));
	s->begun = true;
	u->piece_offset = in->offset;
	r = input_need(in, SNAPPY_LENGTH_BYTES);
	u->ended = r == 0 && input_ready(in) == 0;
	if (r < 0 || u->ended)
		return r;
	if (r == 0)
		return unpack_give_up(u, true, cut_off);
	length = snappy_get_length(input_peek(in));
	if (length == 0 || length > SNAPPY_BLOCK_MAX)
		return unpack_give_up(u, false, "a Snappy chunk of a size that cannot be");
	input_take(in, SNAPPY_LENGTH_BYTES);
	r = input_need(in, length);
	if (r == 0)
		return unpack_give_up(u, true, cut_off);
	return r < 0 ? r : unpack_block(s, u, length);
}

static ssize_t snappy_read(void *state, struct unpack *u, uint8_t *to, size_t n)
{
	struct state *s = state;

	if (s->given == s->size) {
		int r = next_chunk(s, u);

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
	.create = snappy_create,
	.destroy = snappy_destroy,
	.read = snappy_read,
	.begins = snappy_begins,
	.restart = snappy_restart,
	.keep = UNPACK_BEGIN_BYTES,
};
