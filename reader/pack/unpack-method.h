/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What unpack.c and the methods share: the input, through a window of bounded size, and one row of
 * functions a method.
 */
#pragma once

#include "reader/pack/unpack.h"

/* data[begin..end) of the input is there and not taken. */
struct unpack_input {
	int fd;                /* borrowed; -1 = from memory */
	const uint8_t *memory; /* borrowed; what is not in the window yet */
	size_t memory_left;
	uint8_t *data; /* owned */
	size_t room, begin, end;
	uint64_t offset; /* of data[begin] in the input */
	bool eof;
};

struct unpack_ops {
	/* What the method keeps; NULL without memory. NULL: nothing. */
	void *(*create)(void);
	void (*destroy)(void *state);

	/* As unpack_read(); -EBADMSG: damage, which unpack_give_up() has told. N > 0. */
	ssize_t (*read)(void *state, struct unpack *u, uint8_t *to, size_t n);
};

extern const struct unpack_ops unpack_snappy_ops, unpack_zstd_ops, unpack_gzip_ops;

struct unpack {
	struct unpack_input input;
	enum pack_method method;
	const struct unpack_ops *ops;
	void *state;
	uint64_t piece_offset; /* kept by the method: of the chunk, frame or member that is read */
	uint64_t given;
	struct unpack_damage damage;
};

/* Gets more until N bytes are in the window. Returns 1, 0 if the input ends before, or a negative
 * errno. The window grows only as far as bytes really arrive. */
int unpack_need(struct unpack_input *in, size_t n);

static inline size_t unpack_ready(const struct unpack_input *in)
{
	return in->end - in->begin;
}

static inline const uint8_t *unpack_peek(const struct unpack_input *in)
{
	return in->data + in->begin;
}

static inline void unpack_take(struct unpack_input *in, size_t n)
{
	in->begin += n;
	in->offset += n;
}

/* Whether a zstd frame, or one to skip, begins in the window. */
bool unpack_at_zstd_frame(const struct unpack_input *in);

/* Tells damage. Returns -EBADMSG. */
int unpack_give_up(struct unpack *u, bool cut, const char *what);
