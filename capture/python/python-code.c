/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/python/python-code.h"

#include <stdbool.h>
#include <string.h>

enum { REPLACEMENT = 0xfffd };

/* Writes CHARACTER as UTF-8. Returns the number of bytes. */
static size_t python_code_encode(uint32_t character, char to[static 4])
{
	if (character < 0x20 || (character >= 0x7f && character < 0xa0) || character > 0x10ffff ||
	    (character >= 0xd800 && character < 0xe000))
		character = REPLACEMENT;
	if (character < 0x80) {
		to[0] = (char)character;
		return 1;
	}
	if (character < 0x800) {
		to[0] = (char)(0xc0 | character >> 6);
		to[1] = (char)(0x80 | (character & 0x3f));
		return 2;
	}
	if (character < 0x10000) {
		to[0] = (char)(0xe0 | character >> 12);
		to[1] = (char)(0x80 | (character >> 6 & 0x3f));
		to[2] = (char)(0x80 | (character & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | character >> 18);
	to[1] = (char)(0x80 | (character >> 12 & 0x3f));
	to[2] = (char)(0x80 | (character >> 6 & 0x3f));
	to[3] = (char)(0x80 | (character & 0x3f));
	return 4;
}

void python_code_text(const uint8_t *data, size_t n, unsigned kind, char *to, size_t room)
{
	size_t used = 0, size;
	char bytes[4];

	if (kind != 1 && kind != 2 && kind != 4)
		n = 0;
	for (size_t at = 0; n - at >= kind && n > at; at += kind) {
		uint32_t character = 0;

		/* (the characters have the order of this machine) */
		if (kind == 1)
			character = data[at];
		else if (kind == 2)
			character = (uint32_t)data[at] | (uint32_t)data[at + 1] << 8;
		else
			memcpy(&character, data + at, sizeof(character));
		size = python_code_encode(character, bytes);
		if (size >= room - used)
			break;
		memcpy(to + used, bytes, size);
		used += size;
	}
	to[used] = '\0';
}

/* ---- lines ---- */

/*
 * The kinds of entries that say something about lines. Entries of smaller kinds stay in the line of
 * the entry before.
 */
enum {
	LINES_ONE_0 = 10, /* this line, with columns */
	LINES_ONE_2 = 12, /* two lines below */
	LINES_NO_COLUMNS = 13,
	LINES_LONG = 14,
	LINES_NONE = 15, /* no line */
};

/* An unread part of a table. */
struct code_lines {
	const uint8_t *at, *end;
};

/* Reads a number of 6 bits in each byte, lowest first. Returns false at the end of the table. */
static bool python_code_number(struct code_lines *l, uint32_t *ret)
{
	uint32_t value = 0;

	for (unsigned shift = 0; l->at < l->end; shift += 6) {
		uint8_t byte = *l->at++;

		if (shift < 32)
			value |= (uint32_t)(byte & 0x3f) << shift;
		if (!(byte & 0x40)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

/* Reads a number with a sign in its lowest bit. */
static bool python_code_signed(struct code_lines *l, uint32_t *ret)
{
	uint32_t value;

	if (!python_code_number(l, &value))
		return false;
	*ret = value & 1 ? 0 - (value >> 1) : value >> 1;
	return true;
}

uint32_t python_code_line(const uint8_t *table, size_t n, uint32_t first, uint32_t unit)
{
	struct code_lines l = { table, table + n };
	uint32_t line = first, end = 0;

	while (l.at < l.end) {
		uint8_t head = *l.at++, kind = head >> 3 & 15;
		uint32_t delta = 0;

		if (!(head & 0x80))
			return 0;
		if (kind >= LINES_ONE_0 && kind <= LINES_ONE_2)
			delta = (uint32_t)(kind - LINES_ONE_0);
		else if ((kind == LINES_NO_COLUMNS || kind == LINES_LONG) &&
			 !python_code_signed(&l, &delta))
			return 0;
		line += delta;
		end += (head & 7) + 1u;
		if (unit < end)
			return kind == LINES_NONE ? 0 : line;
		/*
		 * Only the first byte of an entry is marked, so bytes up to the next mark are
		 * skipped.
		 */
		while (l.at < l.end && !(*l.at & 0x80))
			l.at++;
	}
	return 0;
}
