/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds functions by name: the name in the symbol table, or the name in C++ or Rust source, with or
 * without parameters and outer namespaces.
 */
#pragma once

#include "reader/places/places.h"

struct place_function {
	uint64_t vaddr, bytes;
	char *symbol; /* owned */
	char *name;   /* name in the source, with its parameters; owned */
};

struct place_functions {
	struct place_function *list; /* owned; sorted by address, one function per address */
	size_t n;
	bool is_full; /* the list has PLACES_FOUND_MAX functions, and others are left out */
	/*
	 * Matching names of indirect functions (STT_GNU_IFUNC). They were left out, because each
	 * stands for several functions, one of which is chosen at run time. Owned; each name once
	 */
	char **indirect;
	size_t n_indirect;
	char nearest[PLACES_NAME_MAX]; /* if no function matches: the most similar name, or "" */
};

void place_functions_deinit(struct place_functions *f);

/*
 * The functions that match PATTERN, with the wildcards `*` and `?`. Returns 0 (also without a
 * match), or -ENOMEM.
 */
int place_functions_find(struct places *p, const char *pattern, struct place_functions *ret);

/* Finds the function that contains VADDR. Returns 0, -ENOENT or -ENOMEM. */
int place_functions_around(struct places *p, uint64_t vaddr, struct place_functions *ret);

/*
 * Writes the demangled NAME to TO, without its return type and its parameters: "int ns::f<int>(int)
 * const" is "ns::f<int>". TO has room for PLACES_NAME_MAX.
 */
void place_function_base_name(const char *name, char *to);
