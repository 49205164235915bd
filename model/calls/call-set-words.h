/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of sets (call-sets.h), and the types of their rows. All names in the first table are
 * sorted before those in the second one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum call_set_kind {
	CALL_SET_FLAGS, /* words with '|' between them; other bits in hex */
	CALL_SET_MODE,  /* words with '|' between them; other bits in octal */
	CALL_SET_ENUM,  /* one word, or the number if it has no word */
	CALL_SET_ID,    /* one word, or the number in decimal and unsigned */
};

struct call_set_word {
	const char *name;
	uint64_t value;
	uint64_t mask; /* for flags: the bits that must equal VALUE */
};

struct call_set {
	const char *name; /* name of the set, after "flags:" or "enum:" */
	enum call_set_kind kind;
	uint8_t bits;                      /* number of significant bits of the value */
	const struct call_set_word *words; /* a word precedes the words whose bits it includes */
	size_t n_words;
	/* Comment behind the hexadecimal number of a value without a word; NULL = no comment. */
	const char *unknown;
};

extern const struct call_set call_set_rows_a_to_l[];
extern const size_t call_set_n_rows_a_to_l;

extern const struct call_set call_set_rows_m_to_z[];
extern const size_t call_set_n_rows_m_to_z;
