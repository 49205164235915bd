/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arguments and the result of a function, value by value, by DWARF and the calling convention
 * of x86-64. In place of a structure, there are those of its members that are numbers, pointers or
 * enumerations.
 */
#pragma once

#include "reader/places/place-locals.h"
#include "reader/places/places.h"

enum { PLACE_ARGUMENTS_MAX = 16, PLACE_ARGUMENT_NAME_MAX = 64 };

struct place_argument {
	char name[PLACE_ARGUMENT_NAME_MAX]; /* "n", "where.x"; "" for a result */
	char kind;                          /* the letter of its shape; 'S' = a string */
	uint8_t bytes;
	uint8_t shift;            /* bits below the value, in its register or memory */
	uint8_t width;            /* number of bits of a bit field; 0 = no bit field */
	char *words;              /* of an enumeration: "RED=0,GREEN=1,"; owned, or NULL */
	struct place_load load;   /* location of the value; has no steps */
	enum place_reason reason; /* why the value is unavailable */
};

struct place_arguments {
	struct place_argument list[PLACE_ARGUMENTS_MAX];
	size_t n;
	bool cut;        /* there are more arguments */
	bool is_changed; /* the compiler has changed them: the convention does not apply */
	/*
	 * Kind 0 = no result. Some kinds exist only for results: 'R' = a structure in registers;
	 * 'M' = the address of a structure; 'L' = a slice (an address, and then a number of
	 * elements); 'V' = a slice in reverse order. A number can have two words.
	 */
	struct place_argument result;
	uint32_t result_unit; /* of a slice: bytes of an element */
	/* Of a structure: load.offset is the member's first byte, in the memory or in the
	 * registers. */
	struct place_argument members[PLACE_ARGUMENTS_MAX];
	size_t n_members;
	bool members_are_cut; /* there are more members */
};

void place_arguments_deinit(struct place_arguments *a);

/*
 * Finds the arguments, at its first instruction, and the result of the function that begins at
 * VADDR. Returns 0, -ENODATA (no data about the function), or -ENOMEM.
 */
int place_arguments_at_entry(struct places *p, uint64_t vaddr, struct place_arguments *ret);

/*
 * Lists the arguments and local variables at VADDR, which is in a function. Returns as
 * place_arguments_at_entry() does.
 */
int place_arguments_at(struct places *p, uint64_t vaddr, struct place_arguments *ret);
