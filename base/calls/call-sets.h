/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words for the values that calls are given: sets of flags, and of numbers with a name. The type of
 * an argument names a set: "flags:open", "enum:seek" (capture/options/call-spec.h).
 *
 * The values are those of the system's headers where this is built. Numbers of sets change from one
 * version to the next: what is kept names a set, or holds the text.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	CALL_SET_NONE = 0,
	CALL_SET_TEXT_MAX = 1024, /* room for any value of any set, the NUL included */
};

enum call_set_kind {
	CALL_SET_FLAGS, /* words with '|' between them, and what has none in hex */
	CALL_SET_MODE,  /* likewise; what has none is octal */
	CALL_SET_ENUM,  /* one word, or the number */
	CALL_SET_ID,    /* likewise; the number is decimal and unsigned */
};

struct call_set_word {
	const char *name;
	uint64_t value;
	uint64_t mask; /* of flags: the bits that have to be VALUE */
};

struct call_set {
	const char *name; /* behind "flags:" or "enum:" */
	enum call_set_kind kind;
	uint8_t bits;                      /* of the value, so many count */
	const struct call_set_word *words; /* where one holds another, the larger one first */
	size_t n_words;
};

/* The number of the set that NAME (N bytes) is: "flags:open". CALL_SET_NONE = there is none. */
unsigned call_set_find(const char *name, size_t n);

/* The set with NUMBER, or NULL: they are numbered from 1 on, without gaps. */
const struct call_set *call_set_by_number(unsigned number);

/* "flags", or "enum": what stands before the ':' of SET. */
const char *call_set_prefix(const struct call_set *set);

/*
 * Writes VALUE in the words of the set NUMBER to TEXT (SIZE > 0 bytes), cut where it does not fit:
 * "O_RDONLY|O_CLOEXEC|0x100000", "SEEK_END", "17". Without such a set, in hex. Returns the length.
 */
size_t call_set_format(unsigned number, uint64_t value, char *text, size_t size);
