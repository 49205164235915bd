/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Variables at an address of a program, compiled into loads (place-load.h), which an eBPF program
 * performs. The variable's shape suffices to print the loaded bytes (place-print.h).
 *
 * The shape of a variable describes the bytes of all its loads, consecutively and in order.
 *
 * An unavailable variable has a reason instead of loads; it is never read as zeros.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "reader/places/place-load.h"
#include "reader/places/place-reasons.h"

struct places;

enum {
	PLACE_STRING_BYTES_MAX = 256, /* maximum size of a string, NUL included */
	PLACE_VARIABLES_MAX = 256,
};

/*
 * The number of elements, if it is known only at run time: from another variable, or from the array
 * itself.
 */
struct place_count {
	bool is_used;
	bool is_signed;         /* the number is signed; a negative number means no elements */
	uint32_t element_bytes; /* size of each element; the counted load has the maximum size */
	struct place_load load; /* load of the number; at most 8 bytes */
};

enum place_scope {
	PLACE_ARGUMENT,
	PLACE_LOCAL,
	PLACE_GLOBAL,
	PLACE_MEMORY, /* the target of a pointer */
	PLACE_SCOPE_MAX,
};

struct place_variable {
	char *name;               /* name in the query: "n", "*buffer@size"; owned */
	char *type;               /* for display: "const struct point *". Owned */
	char *shape;              /* shape for place_print(); NULL if there is a reason. Owned */
	enum place_reason reason; /* why the variable is unavailable */
	enum place_scope scope;
	struct place_load loads[PLACE_LOADS_MAX];
	size_t n_loads;
	struct place_count count; /* number of elements of the first load */
};

struct place_locals {
	/* Owned; the innermost of several variables with the same name comes first. */
	struct place_variable *list;
	size_t n;
};

void place_locals_deinit(struct place_locals *l);

/*
 * The requested variables, one text each:
 *
 * 	args            all arguments of the function at the address
 * 		locals          all other variables of the function that exist there
 * 	NAME            one of these, or a global one: an argument of the innermost function first
 * 	*NAME           the target of a pointer
 * 	*NAME@64        so many consecutive elements
 * 	*NAME@OTHER     as many as the value of another variable
 */
struct place_query {
	uint64_t vaddr; /* address in the file's own addresses */
	const char *const *items;
	size_t n_items;
	bool strings; /* each pointer to characters includes the string */
	/*
	 * The maximum number of global variables, functions and types that one look-up examines; 0
	 * = four million
	 */
	size_t globals_max;
};

/*
 * Finds the variables of QUERY, at most PLACE_VARIABLES_MAX. Returns 0; -ENODATA (no debug
 * information at this address), -ENOENT (no such variable), -EINVAL (an invalid item), each with a
 * sentence in WHY (SIZE bytes); or -ENOMEM.
 */
int place_locals_find(struct places *p, const struct place_query *query, struct place_locals *ret,
		      char *why, size_t size);
