/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prints values from bytes and a shape. A shape is a text that describes a type and nothing else,
 * so it can be stored with the bytes. Printing is safe for any shape and any number of bytes: both
 * can come from an untrusted file.
 *
 *	SHAPE = { '!' AT '+' N ';' } [ '(' OP { ' ' OP } ')' ] TYPE
 *
 *	TYPE  = i4 | u4       integers, signed or unsigned, of so many bytes
 *	      | c1            a character
 *	      | b1            true or false
 *	      | f8            a floating-point number
 *	      | z16           a complex number: two floating-point numbers
 *	      | p8 TYPE       a pointer; only the first letter of TYPE matters
 *	      | e4{NAME=N,}   an enumeration
 *	      | s16{MEMBER,}  a structure; with U instead of s, a union
 *	      | a40 TYPE      an array; a0: the number of elements depends on the number of bytes
 *	      | x16           another type
 *	MEMBER = NAME '@' AT [ ':' BIT '+' BITS ] TYPE
 *
 * N bytes at AT are missing ("!4+8;"). The parentheses contain a formula for the value, with
 * numbers of eight bytes, in postfix order: #0 is the first number, a decimal number is a constant,
 * and + - * / % & | ^ ~ n << >> s>> are as in C (n negates; s>>, / and the comparisons == != < <= >
 * >= are signed).
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
 * Writes the value to TO (SIZE > 4 bytes; truncated with "...") like gdb: 17, 97 'a',
 * 0x7ffe00001000, 0x5581... "text", RED, {x = 1, y = 2}. Missing values are "<optimized out>",
 * missing bytes "<unavailable>", and an invalid shape "<bad shape>". Returns the length.
 */
size_t place_print(const struct place_bytes *value, char *to, size_t size);
