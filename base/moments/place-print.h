/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values as people read them, from bytes and a shape: a text that describes a type and nothing
 * else, so that it can be kept beside the bytes. Whatever a shape says, and however few bytes there
 * are, printing is safe: both may come out of a file.
 *
 *	SHAPE = { '!' AT '+' N ';' } [ '(' OP { ' ' OP } ')' ] TYPE
 *
 *	TYPE  = i4 | u4       integers, signed or not, of so many bytes
 *	      | c1            a character
 *	      | b1            true or false
 *	      | f8            a floating-point number
 *	      | p8 TYPE       a pointer; of the TYPE only its first letter matters
 *	      | e4{NAME=N,}   an enumeration
 *	      | s16{MEMBER,}  a structure, and the same with U: a union
 *	      | a40 TYPE      an array; a0: as many elements as there are bytes
 *	      | x16           something else
 *	MEMBER = NAME '@' AT [ ':' BIT '+' BITS ] TYPE
 *
 * N bytes at AT are missing ("!4+8;"). In parentheses stands how the value is computed, of numbers
 * of eight bytes, in postfix order: #0 is the first number, a decimal number is itself, and
 * + - * / % & | ^ ~ n << >> s>> do what C does (n negates, s>> is signed, as are / and comparisons
 * == != < <= > >=).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct place_bytes {
	const char *shape;
	const void *data;
	size_t n;
};

enum { PLACE_TEXT_MAX = 1 << 16 };

/*
 * Writes the value to TO (SIZE > 4 bytes; "..." ends what was cut), as gdb prints it: 17, 97 'a',
 * 0x7ffe00001000, 0x5581... "text", RED, {x = 1, y = 2}. What is missing is "<optimized out>",
 * bytes that are not there "<unavailable>", and a shape that is none "<bad shape>". Returns the
 * length.
 */
size_t place_print(const struct place_bytes *value, char *to, size_t size);
