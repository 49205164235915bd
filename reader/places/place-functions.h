/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions by name: as the linker has it, or as it stands in source: C++ and Rust, with or without
 * parameters, from the namespace on or from any part behind it.
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
	bool is_full;      /* PLACES_FOUND_MAX: the rest is left out */
	bool has_indirect; /* a name that matches stands for one of several functions: left out */
	char nearest[PLACES_NAME_MAX]; /* where there is none: a name that is like it, or "" */
};

void place_functions_deinit(struct place_functions *f);

/*
 * Those that PATTERN means, in which `*` and `?` stand for others. Returns 0 (also for none), or
 * -ENOMEM.
 */
int place_functions_find(struct places *p, const char *pattern, struct place_functions *ret);

/* The one around VADDR. Returns 0, -ENOENT or -ENOMEM. */
int place_functions_around(struct places *p, uint64_t vaddr, struct place_functions *ret);

/*
 * NAME, demangled, without its return type and its parameters: "int ns::f<int>(int) const" is
 * "ns::f<int>". TO has room for PLACES_NAME_MAX.
 */
void place_function_base_name(const char *name, char *to);
