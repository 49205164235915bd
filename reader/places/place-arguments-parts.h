/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shared part of the files about arguments. Internal to place-arguments*.c.
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

/* A number, a pointer, or an unavailable value, AT bytes from the beginning of a variable. */
struct place_leaf {
	char name[PLACE_ARGUMENT_NAME_MAX];
	uint64_t at;
	char kind;
	uint8_t bytes;
	/* Position and width of a bit field, from `at` on; width 0 = no bit field. */
	uint8_t bit, width;
	bool is_half; /* one half of a number of two words */
	char *words;  /* owned */
};

struct place_leaves {
	struct place_leaf list[PLACE_ARGUMENTS_MAX];
	size_t n;
	bool cut;
	bool has_left_out; /* a member is too deep, or has too long a name, or no fixed place */
	size_t n_visited;  /* members examined; structures without members can make this large */
};

void place_leaves_deinit(struct place_leaves *l);

/* Returns the text between the braces of SHAPE. The caller owns it. */
char *place_leaves_words(const char *shape);

bool place_leaves_is_structure(Dwarf_Die *type);

/*
 * Collects the values in TYPE, except for arrays and unions. TYPE is the type of NAME. NAME begins
 * at AT, and is nested in DEPTH structures.
 */
void place_leaves_collect(struct place_leaves *l, Dwarf_Die *type, const char *name, uint64_t at,
			  unsigned depth);

/* ---- place-arguments-convention.c ---- */

struct place_convention {
	unsigned registers; /* number of used registers */
	unsigned vectors;
	uint64_t stack; /* number of used bytes of the stack, from the return address on */
	bool is_rust;
	bool is_fortran;
	bool is_foreign; /* of a language whose convention and debug information are not followed */
	bool has_wide_vector; /* there was a wide vector; without AVX, it is on the stack */
	bool is_llvm;         /* numbers of 128 bits can be in a register and on the stack */
	bool is_unknown;      /* from here on, arguments are only where the compiler says */
};

/* Returns the state of the calling convention before the first argument of FUNCTION. */
struct place_convention place_convention_of(Dwarf_Die *function);

/* Adds the values of PARAMETER, which has TYPE. */
void place_convention_argument(struct place_convention *c, const struct place_context *context,
			       Dwarf_Die *parameter, Dwarf_Die *type, struct place_arguments *a);

/*
 * Returns true if Rust passes a value of TYPE, with the leaves L, as the convention of C does.
 * Rust's own convention for other types is not fixed: they are in registers, or behind an address.
 * The debug information does not say which convention a function has: a function for C can have a
 * mangled name, and a function for Rust a plain one. So only values that both conventions pass in
 * the same way are certain.
 */
bool place_convention_rust_is_certain(Dwarf_Die *type, const struct place_leaves *l);

/* ---- place-arguments-result.c ---- */

/*
 * Sets the result of FUNCTION. If the result is in memory, the function returns its address, so the
 * address represents the result.
 */
void place_convention_result(Dwarf_Die *function, struct place_convention *c,
			     struct place_arguments *ret);

/* ---- place-arguments.c ---- */

/* Sets TO, without its place, from LEAF, and takes the words of LEAF. */
void place_argument_of_leaf(struct place_leaf *leaf, struct place_argument *to);

/* Adds LEAF, with its words. Returns NULL if there are too many. */
struct place_argument *place_arguments_add(struct place_arguments *a, struct place_leaf *leaf);
