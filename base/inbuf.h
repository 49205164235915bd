/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A checked cursor over bytes that nobody vouches for.
 *
 * Whoever parses takes pieces from the front; a piece that is not there is NULL, never a read
 * past the end. `offset` is where the cursor stands in the whole input, for error messages.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct inbuf {
	const uint8_t *data; /* borrowed; the next byte */
	size_t left;         /* bytes that may still be taken */
	uint64_t offset;     /* of `data` in the input */
};

/* Takes N bytes: returns where they are (borrowed from the input), or NULL and moves nothing. */
static inline const void *inbuf_take(struct inbuf *in, size_t n)
{
	const void *p = in->data;

	if (n > in->left)
		return NULL;
	in->data += n;
	in->left -= n;
	in->offset += n;
	return p;
}

/* Takes one little-endian 64-bit word. Returns 1 with *RET set, or 0 if there are fewer bytes. */
static inline int inbuf_take_word(struct inbuf *in, uint64_t *ret)
{
	const void *p = inbuf_take(in, sizeof(*ret));

	if (!p)
		return 0;
	__builtin_memcpy(ret, p, sizeof(*ret));
	return 1;
}
