/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packs a stream of bytes, block by block, into one of the containers of pack-wire.h.
 *
 * A block becomes one chunk (Snappy), frame (zstd) or member (gzip) that depends on no other: what
 * has been written can be unpacked whatever happens afterwards. The packer knows nothing of what it
 * packs; any format can be its cargo.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "writer/pack/pack-wire.h"

/* One row a method; PACK_NONE has none of the functions, nor has what is only read. */
struct pack_ops {
	const char *name;   /* "zstd"; "" for PACK_NONE */
	const char *suffix; /* of file names: ".zst"; "" where there is none */

	/* What the method keeps from block to block, to be freed; NULL without memory. */
	void *(*create)(void);
	void (*destroy)(void *state);

	/* Appends the N bytes (1 to PACK_CHUNK_MAX) at DATA to TO, packed; FIRST if the file begins
	 * with them. Returns 0 or a negative errno. */
	int (*put)(void *state, const uint8_t *data, size_t n, bool first, struct outbuf *to);

	/* How many of the N packed bytes at DATA are whole blocks; FIRST as above. */
	size_t (*whole)(const uint8_t *data, size_t n, bool first);
};

extern const struct pack_ops pack_snappy_ops, pack_zstd_ops, pack_gzip_ops;

/* The row of METHOD. */
const struct pack_ops *pack_ops(enum pack_method method);

/* The method called NAME, not PACK_NONE. Returns 0, or -EINVAL if there is none. */
int pack_parse(const char *name, enum pack_method *ret);

/* The method by whose suffix a file of this NAME is called; PACK_NONE without one. */
enum pack_method pack_of_suffix(const char *name);

/* The method that the N bytes at DATA, with which a file begins, were packed by. */
enum pack_method pack_of_bytes(const uint8_t *data, size_t n);

/* Where in the N bytes at DATA the last whole record ends: a packer knows no format. */
typedef size_t (*pack_whole_fn)(const uint8_t *data, size_t n);

/*
 * How many of the N bytes at DATA make the next block: all if they are PACK_CHUNK_MAX at most, else
 * whole records as many as fit, or as much as fits of a record that is larger.
 */
size_t pack_piece_bytes(pack_whole_fn whole, const uint8_t *data, size_t n);

struct pack {
	const struct pack_ops *ops;
	void *state;
	bool begun;
};

/* Returns 0 or -ENOMEM. With PACK_NONE the packer copies. */
int pack_init(struct pack *p, enum pack_method method);
void pack_deinit(struct pack *p);

/* What comes next is the beginning of another file. */
void pack_restart(struct pack *p);

/*
 * Appends N bytes (at most PACK_CHUNK_MAX) at DATA to TO as one block; nothing becomes nothing.
 * Returns 0 or a negative errno; TO may then hold bytes that are of no use.
 */
int pack_put(struct pack *p, const uint8_t *data, size_t n, struct outbuf *to);
