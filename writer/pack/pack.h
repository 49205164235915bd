/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compresses a stream of bytes, block by block, into one of the containers of pack-wire.h.
 *
 * A block becomes one chunk (Snappy), frame (zstd), member (gzip) or piece (columns) that depends
 * on no other block. So the written blocks can be decompressed even if later ones are lost. The
 * methods know nothing of the data, except that columns compress only FXT well. Any data can be
 * stored as columns.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "writer/pack/pack-wire.h"

/*
 * A row for each method. PACK_NONE, and methods that kymo only reads, have none of the functions.
 */
struct pack_ops {
	const char *name;   /* "zstd"; "" for PACK_NONE */
	const char *suffix; /* suffix of file names: ".zst"; "" = no suffix */

	/*
	 * Creates the state of the method. The state is kept from block to block, and freed at the
	 * end. Returns NULL if there is no memory.
	 */
	void *(*create)(void);
	void (*destroy)(void *state);

	/*
	 * Compresses the N bytes (1 to PACK_CHUNK_MAX) at DATA, and appends them to TO. FIRST: the
	 * file begins with these bytes. Returns 0 or a negative errno.
	 */
	int (*put)(void *state, const uint8_t *data, size_t n, bool first, struct outbuf *to);

	/*
	 * The number of bytes in whole blocks at the beginning of the N packed bytes at DATA.
	 * FIRST: the file begins with these bytes.
	 */
	size_t (*whole)(const uint8_t *data, size_t n, bool first);
};

extern const struct pack_ops pack_snappy_ops, pack_zstd_ops, pack_gzip_ops, pack_columns_ops;

/* Returns the row of METHOD. */
const struct pack_ops *pack_ops(enum pack_method method);

/*
 * Finds the method with the name NAME, except PACK_NONE. Returns 0, or -EINVAL if no method has the
 * name.
 */
int pack_parse(const char *name, enum pack_method *ret);

/* Returns the method for the suffix of the file NAME; PACK_NONE if it has no known suffix. */
enum pack_method pack_of_suffix(const char *name);

/* Returns the method for a file that begins with the N bytes at DATA. */
enum pack_method pack_of_bytes(const uint8_t *data, size_t n);

/*
 * Finds the end of the last whole record in the N bytes at DATA. Callers provide this function,
 * since the packer knows no formats of data.
 */
typedef size_t (*pack_whole_fn)(const uint8_t *data, size_t n);

/*
 * Returns the number of bytes at DATA, of N, for the next block: all if they are at most
 * PACK_CHUNK_MAX; otherwise the whole records that fit, or the part of a larger record that fits.
 */
size_t pack_piece_bytes(pack_whole_fn whole, const uint8_t *data, size_t n);

struct pack {
	const struct pack_ops *ops;
	void *state;
	bool begun;
};

/* Returns 0 or -ENOMEM. With PACK_NONE, the packer copies the data. */
int pack_init(struct pack *p, enum pack_method method);
void pack_deinit(struct pack *p);

/* Begins another file with the next bytes. */
void pack_restart(struct pack *p);

/*
 * Appends N bytes (at most PACK_CHUNK_MAX) at DATA to TO as one block; an empty input has no
 * output. Returns 0 or a negative errno; TO can then contain useless bytes.
 */
int pack_put(struct pack *p, const uint8_t *data, size_t n, struct outbuf *to);
