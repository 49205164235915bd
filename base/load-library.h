/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Libraries that are loaded on demand, since they take much of the CPU time of a start and few runs
 * use them.
 */
#pragma once

#include <stddef.h>

/* A function of a library, and the place of its pointer in a structure. */
struct library_function {
	const char *name;
	size_t offset;
};

/*
 * Loads the library SONAME, and writes the addresses of its N functions to the structure TO. The
 * library stays loaded. After a failure, TO is unchanged, and another call tries again. Returns 0,
 * or -ENOPKG if the library is missing, damaged, or has not all the functions.
 */
int load_library(const char *soname, const struct library_function *functions, size_t n, void *to);
