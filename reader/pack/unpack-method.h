/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by unpack.c and the methods: the input, and one row of functions per method. A block is a
 * chunk, frame, member or piece, which can be decompressed alone.
 */
#pragma once

#include "base/input.h"
#include "reader/pack/unpack.h"

struct unpack_ops {
	/*
	 * Creates the state of the method. Returns NULL if there is no memory. The pointer is NULL
	 * if the method has no state.
	 */
	void *(*create)(void);
	void (*destroy)(void *state);

	/*
	 * Writes up to N > 0 bytes to TO. Sets u->inside to true while the position is inside a
	 * block. Returns their number; 0 at the end of a block or of the input (u->ended is then
	 * true); -EBADMSG for damage, which unpack_fail() has reported; or another negative errno.
	 * Never reads beyond the end of a block.
	 */
	ssize_t (*read)(void *state, struct unpack *u, uint8_t *to, size_t n);

	/*
	 * Returns true if a block can begin at P. N is at least UNPACK_BEGIN_BYTES, except at the
	 * end of the input.
	 */
	bool (*begins)(const uint8_t *p, size_t n);

	/* Discards the current block; the next block begins at the input's position. */
	void (*restart)(void *state);

	/*
	 * The number of input bytes that are kept, so that the next block can be searched in them
	 * if a block is damaged.
	 */
	size_t keep;

	/* A block is verified only when it was read to its end. */
	bool staged;
};

enum { UNPACK_BEGIN_BYTES = 20 };

extern const struct unpack_ops unpack_snappy_ops, unpack_zstd_ops, unpack_gzip_ops;
extern const struct unpack_ops unpack_brotli_ops, unpack_columns_ops;

enum { UNPACK_DAMAGES = 16 };

struct unpack {
	struct input input;
	enum pack_method method;
	const struct unpack_ops *ops;
	void *state;

	/* These members belong to the method. */
	uint64_t piece_offset; /* offset of the current chunk, frame or member */
	bool inside;           /* the position is inside a chunk, frame or member */
	bool ended;            /* the input has ended, after a block */

	uint64_t given;
	bool stopped;   /* reading has stopped, since the output is too large for the input */
	uint8_t *stage; /* a block, or its beginning; owned */
	size_t staged, stage_given;
	bool streaming; /* the block is larger than `stage` */

	/* The damage that unpack_fail() has reported last. */
	struct unpack_damage bad;
	bool bad_checksum;
	bool bad_is_late; /* data before the damage is returned first */

	bool searching; /* searching for a block after the damage in `bad` */
	uint64_t search_begin, search_work;

	struct unpack_damage damages[UNPACK_DAMAGES]; /* damage that was not taken yet */
	unsigned n_damages;
};

/* Returns true if the input's window begins with a zstd frame or a skippable frame. */
bool unpack_at_zstd_frame(const struct input *in);

/*
 * Returns true if the beginning of a Brotli stream in the window is accepted by DETECT. Can read
 * more input.
 */
bool unpack_is_brotli(struct input *in, unpack_detect_fn detect);

/* Reports damage. Returns -EBADMSG. */
int unpack_fail(struct unpack *u, bool cut, const char *what);
