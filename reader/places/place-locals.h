/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Variables at an address of a program, compiled into loads (place-load.h), which an eBPF program
 * performs. To print the loaded bytes, only the variable's shape is needed (place-print.h).
 *
 * The shape of a variable describes the bytes of all its loads, consecutively and in order.
 *
 * An unavailable variable has a reason instead of loads; it is never shown as zeros.
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
 * The number of elements of a variable, if it is known only at run time: it is the value of another
 * variable, or belongs to the array itself.
 */
struct place_count {
	bool is_used;
	bool is_signed;         /* the number is signed; if it is negative, there are no elements */
	uint32_t element_bytes; /* of an element; the load of the elements has the maximum size */
	struct place_load load; /* reads the number, of at most 8 bytes */
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
	char *shape;              /* for place_print(); NULL if `reason` is set. Owned */
	enum place_reason reason; /* why the variable is unavailable */
	enum place_scope scope;
	struct place_load loads[PLACE_LOADS_MAX];
	size_t n_loads;
	struct place_count count; /* number of elements of the first load */
};

struct place_locals {
	/* Owned. Of several variables with the same name, the innermost one comes first. */
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
	 * The maximum number of global variables, functions and types that a look-up examines; 0 =
	 * four million
	 */
	size_t globals_max;
};

/*
 * Finds the variables of QUERY, at most PLACE_VARIABLES_MAX. Returns 0; -ENODATA (no debug
 * information at the address), -ENOENT (no such variable) or -EINVAL (an item is invalid), each
 * with a sentence in WHY, which has SIZE bytes; or -ENOMEM.
 */
int place_locals_find(struct places *p, const struct place_query *query, struct place_locals *ret,
		      char *why, size_t size);
