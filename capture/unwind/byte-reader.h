/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads values one after another from untrusted bytes. If a value is truncated, the reader becomes
 * bad: it is then at its end, and returns only 0. So loops end by themselves, and errors are
 * checked once at the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct byte_reader {
	const uint8_t *at, *end; /* borrowed */
	bool bad;
};

static inline size_t byte_reader_left(const struct byte_reader *r)
{
	return (size_t)(r->end - r->at);
}

static inline void byte_reader_fail(struct byte_reader *r)
{
	r->at = r->end;
	r->bad = true;
}

/* Returns the next N bytes, or NULL. */
static inline const uint8_t *byte_reader_consume(struct byte_reader *r, uint64_t n)
{
	const uint8_t *at = r->at;

	if (n > byte_reader_left(r)) {
		byte_reader_fail(r);
		return NULL;
	}
	r->at += n;
	return at;
}

/* Returns an integer of N bytes, 8 at most, little-endian. */
static inline uint64_t byte_reader_unsigned(struct byte_reader *r, unsigned n)
{
	const uint8_t *at = byte_reader_consume(r, n);
	uint64_t value = 0;

	for (unsigned i = 0; at && i < n; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

static inline uint8_t byte_reader_u8(struct byte_reader *r)
{
	if (r->at == r->end) {
		r->bad = true;
		return 0;
	}
	return *r->at++;
}

static inline int64_t byte_reader_signed(struct byte_reader *r, unsigned n)
{
	unsigned shift = 64 - 8 * n;

	return (int64_t)(byte_reader_unsigned(r, n) << shift) >> shift;
}

/* Returns a LEB128 number; bits above the lowest 64 are dropped. */
static inline uint64_t byte_reader_leb(struct byte_reader *r, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = byte_reader_u8(r);
		if (shift < 64) {
			value |= (uint64_t)(byte & 0x7f) << shift;
			shift += 7;
		}
	} while (byte & 0x80);
	if (is_signed && shift < 64 && byte & 0x40)
		value |= ~UINT64_C(0) << shift;
	return r->bad ? 0 : value;
}

static inline uint64_t byte_reader_uleb(struct byte_reader *r)
{
	return byte_reader_leb(r, false);
}

static inline int64_t byte_reader_sleb(struct byte_reader *r)
{
	return (int64_t)byte_reader_leb(r, true);
}
