/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the library that has a function which a program imports. The libraries that the program
 * needs are searched as the dynamic linker does: in their order, and after them the libraries that
 * they need. Directories that an audit library or the dynamic linker's configuration for a special
 * processor adds are not searched.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "capture/options/options.h"
#include "reader/places/places.h"

enum {
	NEEDED_LIBRARIES_MAX = 1024, /* one program rarely needs more */
	NEEDED_LIBRARY_WHY_MAX = PATH_MAX + PLACES_WHY_MAX,
};

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

/* Both return 0, or another value that ends the visit. */
struct needed_library_visitor {
	int (*on_library)(const char *path, void *userdata);
	/* A library is not found, or cannot be read. WHY names it (NEEDED_LIBRARY_WHY_MAX). */
	int (*on_failure)(const char *why, void *userdata);
	void *userdata;
};

/* The file in which the dynamic linker finds libraries that it adds to all programs. */
#define NEEDED_LIBRARY_PRELOAD "/etc/ld.so.preload"

/*
 * Visits each library that PROGRAM, or one of them, needs. Returns the value that ended the visit,
 * -E2BIG if there are more than NEEDED_LIBRARIES_MAX, or -ENOMEM.
 */
int needed_library_each(const struct places *program, const struct capture_filter *filter,
			const struct needed_library_visitor *visitor);

/*
 * The same for the libraries that the dynamic linker adds to PROGRAM, which kymo starts, and those
 * that they need: the libraries of LD_PRELOAD and of the file PRELOAD. It adds none to static
 * programs, and none of another word size. (Libraries of LD_AUDIT are not visited.)
 */
int needed_library_each_preloaded(const struct places *program, const char *preload,
				  const struct needed_library_visitor *visitor);
