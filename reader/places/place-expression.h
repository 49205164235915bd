/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compiles location expressions of DWARF into loads (place-load.h). The expression is evaluated
 * with terms instead of numbers: a register plus a constant, the memory at such an address, and so
 * on. Other arithmetic becomes a formula in the variable's shape, which computes the value from the
 * loaded numbers.
 */
#pragma once

#include "reader/places/place-load.h"
#include "reader/places/place-reasons.h"
#include "reader/places/places-parts.h"

enum { PLACE_FORMULA_MAX = 256, PLACE_GAPS_MAX = 4 };

/* The address for which an expression is evaluated. */
struct place_context {
	struct places *places;
	Dwarf_Die *function; /* the function, for its frame base */
	uint64_t vaddr;
};

struct place_location {
	struct place_load loads[PLACE_LOADS_MAX];
	size_t n_loads;
	struct {
		uint32_t at, n;
	} gaps[PLACE_GAPS_MAX]; /* bytes that are optimised out */
	size_t n_gaps;
	/* Formula for the value (place-print.h); "" = the loaded bytes are the value. */
	char formula[PLACE_FORMULA_MAX];
};

/*
 * Finds the location of the value of DIE, a variable of BYTES. Returns PLACE_REASON_NONE, or the
 * reason why the value is unavailable.
 */
enum place_reason place_expression_locate(const struct place_context *context, Dwarf_Die *die,
					  uint64_t bytes, struct place_location *ret);

/*
 * Finds the number that the attribute NAME of DIE (such as the bound of an array) has at run time,
 * as a load. Returns PLACE_REASON_NONE, or the reason why the number is unavailable.
 */
enum place_reason place_expression_number(const struct place_context *context, Dwarf_Die *die,
					  unsigned name, struct place_load *ret);

/* Adds a step to LOAD: the content of its address becomes its address. Returns false if LOAD has
 * too many steps already. */
bool place_load_follow(struct place_load *load);
