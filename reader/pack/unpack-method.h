/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What unpack.c and the methods share: the input, and one row of functions a method.
 */
#pragma once

#include "base/input.h"
#include "reader/pack/unpack.h"

struct unpack_ops {
	/* What the method keeps; NULL without memory. NULL: nothing. */
	void *(*create)(void);
	void (*destroy)(void *state);

	/* As unpack_read(); -EBADMSG: damage, which unpack_give_up() has told. N > 0. */
	ssize_t (*read)(void *state, struct unpack *u, uint8_t *to, size_t n);
};

extern const struct unpack_ops unpack_snappy_ops, unpack_zstd_ops, unpack_gzip_ops;

struct unpack {
	struct input input;
	enum pack_method method;
	const struct unpack_ops *ops;
	void *state;
	uint64_t piece_offset; /* kept by the method: of the chunk, frame or member that is read */
	uint64_t given;
	struct unpack_damage damage;
};

/* Whether a zstd frame, or one to skip, begins in the window. */
bool unpack_at_zstd_frame(const struct input *in);

/* Tells damage. Returns -EBADMSG. */
int unpack_give_up(struct unpack *u, bool cut, const char *what);
