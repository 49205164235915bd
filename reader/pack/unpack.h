/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decompresses a trace (writer/pack/pack-wire.h), recognized by its first bytes, from a descriptor
 * or memory, in one pass. Uncompressed data is returned unchanged.
 *
 * Memory is bounded for any input: output is produced on demand. Time is bounded, too: reading
 * stops after more than 1 GiB of output that is also more than 500 times the input. (Traces shrink
 * 10 to 20 times.) The stop is reported as damage. Data that cannot be decompressed are damage,
 * too: the data before them are returned, and then the data from the next whole chunk, frame,
 * member or piece on. unpack_damage() has the error and its position. A block that fails its
 * checksum is not returned, unless it is so large that its beginning was returned before its end
 * was read. A truncated file is damaged, too, unless it was cut between two blocks, which is
 * undetectable.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "writer/pack/pack-wire.h"

struct unpack;

struct unpack_damage {
	const char *what; /* static text */
	bool cut;         /* the input ends before the end of a block */
	/* Reading has stopped: the rest can be valid, but its output is too large for the input. */
	bool stopped;
	uint64_t packed_offset; /* position in the input of the affected chunk, frame or member */
	/* Number of bytes from there to the place where reading continues. */
	uint64_t packed_bytes;
	uint64_t unpacked_offset; /* number of bytes that were returned before the damage */
};

/*
 * Start to read from FD (borrowed, from its position), or from N bytes at P (borrowed). The
 * functions wait for the first bytes. They return 0 or a negative errno (-EISDIR, -ENOMEM, an error
 * of read()).
 */
int unpack_new_fd(struct unpack **ret, int fd);
int unpack_new_memory(struct unpack **ret, const void *p, size_t n);

/*
 * Brotli has no magic number. Data without a magic number is treated as a Brotli stream if this
 * function accepts its first bytes, after decompression; but not if it accepts the first 4 or more
 * bytes unchanged.
 */
typedef bool (*unpack_detect_fn)(const uint8_t *p, size_t n);
int unpack_new_fd_detecting(struct unpack **ret, int fd, unpack_detect_fn detect);
int unpack_new_memory_detecting(struct unpack **ret, const void *p, size_t n,
				unpack_detect_fn detect);

struct unpack *unpack_free(struct unpack *u);
DEFINE_CLEANUP(struct unpack *, unpack_free)

/* Returns the compression of the input. */
enum pack_method unpack_method(const struct unpack *u);

/*
 * Writes up to N bytes, decompressed, to TO. Returns their number, 0 at the end, or a negative
 * errno.
 */
ssize_t unpack_read(struct unpack *u, void *to, size_t n);

/*
 * Returns the first damage that was found and not taken yet, or NULL. Borrowed. Damage that is not
 * taken in time is reported together with the previous one.
 */
const struct unpack_damage *unpack_damage(const struct unpack *u);

/* Marks the first damage as taken. */
void unpack_pop_damage(struct unpack *u);
