/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The declarations that the files place-arguments*.c share.
 *
 *   place-arguments.c             the arguments of a function, and the variables at an address
 *   place-arguments-leaves.c      the values in a type
 *   place-arguments-convention.c  where the calling convention and the compiler put them
 *   place-arguments-result.c      where the calling convention puts the result
 */
#pragma once

#include <elfutils/libdw.h>

#include "reader/places/place-arguments.h"
#include "reader/places/place-expression.h"

enum {
	PLACE_WORD = 8,
	PLACE_PARTS_MAX = 1024, /* maximum number of members or parameters that are examined */
};

/* ---- place-arguments-leaves.c ---- */

/* A number, a pointer, or an unavailable value, at AT bytes from the begin of a variable. */
struct place_leaf {
	char name[PLACE_ARGUMENT_NAME_MAX];
	uint64_t at;
	char kind;
	uint8_t bytes;
	/* First bit and number of bits of a bit field in the bytes at `at`; width 0 = no bit
	 * field. */
	uint8_t bit, width;
	bool is_half; /* one half of a number of two words */
	char *words;  /* owned */
};

struct place_leaves {
	struct place_leaf list[PLACE_ARGUMENTS_MAX];
	size_t n;
	bool cut;
	bool has_left_out; /* members are missing: too deep, too long a name, or no fixed place */
	size_t n_visited;  /* members examined so far, also those of empty structures */
};

void place_leaves_deinit(struct place_leaves *l);

/* Returns the text between the braces of SHAPE, which the caller frees. */
char *place_leaves_words(const char *shape);

bool place_leaves_is_structure(Dwarf_Die *type);

/*
 * Collects the values in TYPE, the type of NAME, except for arrays and unions. NAME begins at AT,
 * and is nested in DEPTH structures.
 */
void place_leaves_collect(struct place_leaves *l, Dwarf_Die *type, const char *name, uint64_t at,
			  unsigned depth);

/* ---- place-arguments-convention.c ---- */

struct place_convention {
	unsigned registers; /* number of used registers */
	unsigned vectors;
	uint64_t stack; /* used bytes of the stack, counted from the return address */
	bool is_rust;
	bool is_fortran;
	bool is_foreign;      /* the language has a convention that kymo does not know */
	bool has_wide_vector; /* a wide vector was passed; without AVX, it is on the stack */
	bool is_llvm;         /* a number of 128 bits can be in a register and on the stack */
	bool is_unknown;      /* from here on, only the compiler's locations are used */
};

/* Returns the state of the calling convention before the first argument of FUNCTION. */
struct place_convention place_convention_of(Dwarf_Die *function);

/* Adds the values of PARAMETER, which has TYPE, to A, and advances C. */
void place_convention_argument(struct place_convention *c, const struct place_context *context,
			       Dwarf_Die *parameter, Dwarf_Die *type, struct place_arguments *a);

/*
 * Returns true if Rust passes a value of TYPE, with the leaves L, exactly as C does. For other
 * types, Rust's own convention is not fixed: such a value is in registers, or behind an address.
 * And the debug information does not say whether a function has C's convention or Rust's (mangled
 * names do not show it, either). So only values that both conventions pass in the same way are
 * certain.
 */
bool place_convention_rust_is_certain(Dwarf_Die *type, const struct place_leaves *l);

/* ---- place-arguments-result.c ---- */

/*
 * Sets the result of FUNCTION. If the function returns the address of its result, the address
 * stands for the result.
 */
void place_convention_result(Dwarf_Die *function, struct place_convention *c,
			     struct place_arguments *ret);

/* ---- place-arguments.c ---- */

/* Sets TO from LEAF, except for the place. Takes ownership of the words of LEAF. */
void place_argument_of_leaf(struct place_leaf *leaf, struct place_argument *to);

/* Adds LEAF to A, and takes ownership of its words. Returns NULL if there are too many values. */
struct place_argument *place_arguments_add(struct place_arguments *a, struct place_leaf *leaf);
