/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacks what a trace is packed in (writer/pack/pack-wire.h), recognized by its first bytes, from
 * a descriptor or memory, in one pass. What is not packed comes out as it is.
 *
 * Memory is bounded, whatever the bytes claim: output is made as it is asked for. So is time:
 * reading stops where more than 1 GiB came out, and more than 500 times what went in. Traces are
 * packed 10 to 20 times. That is reported as damage, too. What cannot be unpacked is damage: what
 * is before it is given back, and then what is behind it, from the next chunk, frame or member that
 * is found to be whole. unpack_damage() says what was wrong, and where. What a checksum does not
 * stand for is not given back, unless it is so large that the beginning was before its end was
 * seen. A file that was cut off is damaged, too, unless it was cut between two blocks, which cannot
 * be seen.
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
	const char *what;         /* static text */
	bool cut;                 /* the input ends where more must come */
	bool stopped;             /* what follows may be fine, but is too much of too little */
	uint64_t packed_offset;   /* in the input, of the chunk, frame or member that it is in */
	uint64_t packed_bytes;    /* from there to where it goes on */
	uint64_t unpacked_offset; /* so many bytes were given back before it */
};

/*
 * Start to read from FD (borrowed, from where it stands), or N bytes at P (borrowed). Waits for the
 * first bytes. Returns 0 or a negative errno (-EISDIR, -ENOMEM, what read() says).
 */
int unpack_new_fd(struct unpack **ret, int fd);
int unpack_new_memory(struct unpack **ret, const void *p, size_t n);

/*
 * Brotli has no magic number: what has none and is a Brotli stream of what LOOKS (at its first
 * bytes, unpacked) as the caller wants it is unpacked as one; but nothing that looks so as it
 * stands, by its first 4 bytes or more.
 */
typedef bool (*unpack_looks_fn)(const uint8_t *p, size_t n);
int unpack_new_fd_looking(struct unpack **ret, int fd, unpack_looks_fn looks);
int unpack_new_memory_looking(struct unpack **ret, const void *p, size_t n, unpack_looks_fn looks);

struct unpack *unpack_free(struct unpack *u);
DEFINE_CLEANUP(struct unpack *, unpack_free)

/* What the bytes are packed in. */
enum pack_method unpack_method(const struct unpack *u);

/* Puts up to N bytes, unpacked, to TO. Returns how many, 0 at the end, or a negative errno. */
ssize_t unpack_read(struct unpack *u, void *to, size_t n);

/* The first damage that was come upon and not taken yet, or NULL. Borrowed. What is not taken in
 * time is reported together with the one before it. */
const struct unpack_damage *unpack_damage(const struct unpack *u);

/* Takes the first damage away. */
void unpack_damage_taken(struct unpack *u);
