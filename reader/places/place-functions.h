/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds functions by name: by the symbol, or by the name in C++ or Rust source, with or without
 * parameters and outer namespaces.
 */
#pragma once

#include "reader/places/places.h"

struct place_function {
	uint64_t vaddr, bytes;
	char *symbol; /* owned */
	char *name;   /* owned; the name in the source, with parameters */
};

struct place_functions {
	struct place_function *list; /* owned; sorted by address; one for each address */
	size_t n;
	bool is_full; /* there are PLACES_FOUND_MAX functions, and more match */
	/*
	 * The matching indirect functions (STT_GNU_IFUNC), which are left out of the list: such a
	 * name stands for several functions, one of which is chosen at run time. Owned; each name
	 * once
	 */
	char **indirect;
	size_t n_indirect;
	char nearest[PLACES_NAME_MAX]; /* if nothing matches: the most similar name, or "" */
};

void place_functions_deinit(struct place_functions *f);

/*
 * Finds the functions that match PATTERN, which can have the wildcards `*` and `?`. Returns 0, also
 * if no function matches, or -ENOMEM.
 */
int place_functions_find(struct places *p, const char *pattern, struct place_functions *ret);

/* Finds the function that contains VADDR. Returns 0, -ENOENT (none), or -ENOMEM. */
int place_functions_around(struct places *p, uint64_t vaddr, struct place_functions *ret);

/*
 * Writes the demangled NAME without return type and parameters to TO, which has room for
 * PLACES_NAME_MAX: "int ns::f<int>(int) const" becomes "ns::f<int>".
 */
void place_function_base_name(const char *name, char *to);
