/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds functions by name: as in the symbol table, or as in C++ and Rust source, with or without
 * parameters, beginning with any namespace.
 */
#pragma once

#include "reader/places/places.h"

struct place_function {
	uint64_t vaddr, bytes;
	char *symbol; /* owned */
	char *name;   /* as in source, with parameters if it has them; owned */
};

struct place_functions {
	struct place_function *list; /* owned; by address, no two the same */
	size_t n;
	bool is_full; /* PLACES_FOUND_MAX: the rest is left out */
	/*
	 * Matching names that each refer to one of several functions, and were left out: owned,
	 * each once
	 */
	char **indirect;
	size_t n_indirect;
	char nearest[PLACES_NAME_MAX]; /* if there is none: the most similar name, or "" */
};

void place_functions_deinit(struct place_functions *f);

/*
 * The functions that match PATTERN, with the wildcards `*` and `?`. Returns 0 (also without a
 * match), or -ENOMEM.
 */
int place_functions_find(struct places *p, const char *pattern, struct place_functions *ret);

/* The one around VADDR. Returns 0, -ENOENT or -ENOMEM. */
int place_functions_around(struct places *p, uint64_t vaddr, struct place_functions *ret);

/*
 * NAME, demangled, without its return type and its parameters: "int ns::f<int>(int) const" is
 * "ns::f<int>". TO has room for PLACES_NAME_MAX.
 */
void place_function_base_name(const char *name, char *to);
