/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What unpack.c and the methods share: the input, and one row of functions a method. A block is a
 * chunk, frame or member: what can be unpacked without what is before it.
 */
#pragma once

#include "base/input.h"
#include "reader/pack/unpack.h"

struct unpack_ops {
	/* What the method keeps; NULL without memory. NULL: nothing. */
	void *(*create)(void);
	void (*destroy)(void *state);

	/*
	 * Puts up to N > 0 bytes to TO. Returns how many; 0 when a block has ended (u->inside says
	 * whether one is being read) or the input has (u->ended); -EBADMSG: damage, which
	 * unpack_give_up() has reported; or another negative errno. Never reads beyond the end of a
	 * block.
	 */
	ssize_t (*read)(void *state, struct unpack *u, uint8_t *to, size_t n);

	/* Could a block begin at P? At least UNPACK_BEGIN_BYTES are there, but at the end. */
	bool (*begins)(const uint8_t *p, size_t n);

	/* Forgets the block that was being read; another one begins where the input stands. */
	void (*restart)(void *state);

	/* So many bytes of the input are kept to look for another block in, if one is damaged. */
	size_t keep;

	/* A block is only known to be good when it was read to its end. */
	bool staged;
};

enum { UNPACK_BEGIN_BYTES = 16 };

extern const struct unpack_ops unpack_snappy_ops, unpack_zstd_ops, unpack_gzip_ops;
extern const struct unpack_ops unpack_brotli_ops;

enum { UNPACK_DAMAGES = 16 };

struct unpack {
	struct input input;
	enum pack_method method;
	const struct unpack_ops *ops;
	void *state;

	/* Kept by the method. */
	uint64_t piece_offset; /* of the chunk, frame or member that is read */
	bool inside;           /* of one */
	bool ended;            /* the input has, behind a block */

	uint64_t given;
	bool stopped;   /* more came out than is sensible: no more is read */
	uint8_t *stage; /* owned; a block, or its beginning */
	size_t staged, stage_given;
	bool streaming; /* the block is larger than that */

	/* What unpack_give_up() reported last. */
	struct unpack_damage bad;
	bool bad_checksum;
	bool bad_is_late; /* what comes before it is to be given back first */

	bool searching; /* for a block behind the damage in bad */
	uint64_t search_begin, search_work;

	struct unpack_damage damages[UNPACK_DAMAGES]; /* that were not taken yet */
	unsigned n_damages;
};

/* Whether a zstd frame, or one to skip, begins in the window. */
bool unpack_at_zstd_frame(const struct input *in);

/* Whether what a Brotli stream in the window begins with LOOKS as it should. May read more. */
bool unpack_is_brotli(struct input *in, unpack_looks_fn looks);

/* Reports damage. Returns -EBADMSG. */
int unpack_give_up(struct unpack *u, bool cut, const char *what);
