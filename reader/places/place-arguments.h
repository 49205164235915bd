/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arguments and the result of a function, value by value, by DWARF and the calling convention
 * of x86-64. A structure is represented by those members that are numbers, pointers or
 * enumerations.
 */
#pragma once

#include "reader/places/place-locals.h"
#include "reader/places/places.h"

enum { PLACE_ARGUMENTS_MAX = 16, PLACE_ARGUMENT_NAME_MAX = 64 };

struct place_argument {
	char name[PLACE_ARGUMENT_NAME_MAX]; /* "n", "where.x"; "" for a result */
	char kind;                          /* 'S' = a string; otherwise, the letter of its shape */
	uint8_t bytes;
	uint8_t shift;            /* number of bits below the value, in its register or memory */
	uint8_t width;            /* width of a bit field; 0 = no bit field */
	char *words;              /* words of an enumeration, "RED=0,GREEN=1,"; owned, or NULL */
	struct place_load load;   /* location of the value; has no steps */
	enum place_reason reason; /* why the value is unavailable */
};

struct place_arguments {
	struct place_argument list[PLACE_ARGUMENTS_MAX];
	size_t n;
	bool cut;        /* there are more arguments */
	bool is_changed; /* the compiler changed them, so the calling convention does not apply */
	/*
	 * Kind 0 = no result. These kinds are only for results: 'R' = a structure in registers; 'M'
	 * = the address of a structure; 'L' = a slice, an address and a number of elements; 'V' =
	 * the same in reverse order. A number can have two words.
	 */
	struct place_argument result;
	uint32_t result_unit; /* of a slice: number of bytes of an element */
	/* Of a structure. The offset of `load` is the first byte, in memory or in the registers. */
	struct place_argument members[PLACE_ARGUMENTS_MAX];
	size_t n_members;
	bool members_are_cut; /* there are more members */
};

void place_arguments_deinit(struct place_arguments *a);

/*
 * The arguments of the function that begins at VADDR, at its first instruction. Returns 0, -ENODATA
 * (no data about it), or -ENOMEM.
 */
int place_arguments_at_entry(struct places *p, uint64_t vaddr, struct place_arguments *ret);

/*
 * Lists arguments and local variables at VADDR, which is in a function. Returns like
 * place_arguments_at_entry().
 */
int place_arguments_at(struct places *p, uint64_t vaddr, struct place_arguments *ret);
