/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the library that has a function which a program imports. The libraries that the program
 * needs are searched as the dynamic linker does: in their order, and after them the libraries that
 * they need.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "capture/options/options.h"
#include "reader/places/places.h"

/*
 * Writes to TO the name of the first library with FUNCTION, for --call: the name in the file that
 * needs the library, or its path if that file names the directory. Only files of the processes in
 * FILTER, or of this machine, are searched. Returns false if there is no such library.
 */
bool needed_library_find(const struct places *program, const char *function,
			 const struct capture_filter *filter, char to[static PATH_MAX]);

/* Whether the library NAME has FUNCTION. */
bool needed_library_has(const char *name, const char *function,
			const struct capture_filter *filter);

/*
 * Calls FN with the path of each library that PROGRAM, or one of them, needs, until it returns a
 * value other than 0, which is returned. Libraries that are not found are left out.
 */
int needed_library_each(const struct places *program, const struct capture_filter *filter,
			int (*fn)(const char *path, void *userdata), void *userdata);
