/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call frame information that is written by hand: CIEs and FDEs of an .eh_frame (DWARF 5, 6.4.1),
 * for the tests of unwind tables.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/outbuf.h"
#include "tests/support/unit.h"

struct bytes {
	const char *data;
	size_t n;
};

#define BYTES(text) ((struct bytes){ "" text, sizeof(text) - 1 })
#define NO_BYTES    ((struct bytes){ "", 0 })

/* def_cfa rsp 8; offset rip -8: the first rules in each CIE for x86-64 */
#define USUAL BYTES("\x0c\x07\x08\x90\x01")

static inline void put(struct outbuf *to, struct bytes b)
{
	assert_int_equal(outbuf_append(to, b.data, b.n), 0);
}

static inline void put_number(struct outbuf *to, uint64_t value, size_t n)
{
	assert_int_equal(outbuf_append(to, &value, n), 0);
}

static inline size_t begin_entry(struct outbuf *to, uint32_t id)
{
	size_t at = to->size;

	put_number(to, 0, 4);
	put_number(to, id, 4);
	return at;
}

static inline void end_entry(struct outbuf *to, size_t at)
{
	uint32_t n = (uint32_t)(to->size - at - 4);

	memcpy(to->data + at, &n, 4);
}

/* A CIE at the begin of an .eh_frame. */
static inline void put_cie(struct outbuf *to, uint8_t encoding, const char *letters,
			   struct bytes initial)
{
	size_t at = begin_entry(to, 0);

	put_number(to, 1, 1);
	put(to, (struct bytes){ letters, strlen(letters) + 1 });
	put(to, BYTES("\x01\x78\x10")); /* factors 1 and -8, register 16 */
	if (letters[0] == 'z') {
		put_number(to, 1, 1);
		put_number(to, encoding, 1);
	}
	put(to, initial);
	end_entry(to, at);
}

/* An FDE of the CIE at 0. BEGIN and SIZE are encoded as the CIE specifies. */
static inline size_t put_fde(struct outbuf *to, struct bytes begin, struct bytes size,
			     struct bytes code)
{
	size_t at = begin_entry(to, (uint32_t)to->size + 4);

	put(to, begin);
	put(to, size);
	put_number(to, 0, 1);
	put(to, code);
	end_entry(to, at);
	return at;
}

static inline size_t put_fde_at(struct outbuf *to, uint64_t begin, uint64_t size, struct bytes code)
{
	return put_fde(to, (struct bytes){ (const char *)&begin, 8 },
		       (struct bytes){ (const char *)&size, 8 }, code);
}
