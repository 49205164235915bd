/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the library with a function that a program imports. Libraries are searched as by the
 * dynamic linker: first those that the program needs, in their order, and then the libraries that
 * these need. Directories that are added by an audit library, or by the dynamic linker's
 * configuration for a special processor, are not searched.
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
 * FILTER, or of this machine, are searched. Returns false if no such library is found.
 */
bool needed_library_find(const struct places *program, const char *function,
			 const struct capture_filter *filter, char to[static PATH_MAX]);

/* Returns true if the library NAME has FUNCTION. */
bool needed_library_has(const char *name, const char *function,
			const struct capture_filter *filter);

/* Visits libraries. Both functions return 0 to continue, or another value to end the visit. */
struct needed_library_visitor {
	int (*on_library)(const char *path, void *userdata);
	/*
	 * Called if a library is not found, or is unreadable. WHY has its name and the reason, in
	 * at most NEEDED_LIBRARY_WHY_MAX bytes.
	 */
	int (*on_failure)(const char *why, void *userdata);
	void *userdata;
};

/* The file with libraries that the dynamic linker adds to all programs. */
#define NEEDED_LIBRARY_PRELOAD "/etc/ld.so.preload"

/*
 * Visits each library that PROGRAM needs, and each library that one of them needs. Returns the
 * value that ended the visit, -E2BIG if there are more than NEEDED_LIBRARIES_MAX, or -ENOMEM.
 */
int needed_library_each(const struct places *program, const struct capture_filter *filter,
			const struct needed_library_visitor *visitor);

/*
 * Visits the libraries that the dynamic linker adds to PROGRAM, which kymo starts, and the
 * libraries that they need: those in LD_PRELOAD, and in the file PRELOAD. The dynamic linker adds
 * no libraries to static programs, and no libraries of another word size. (Libraries in LD_AUDIT
 * are not visited.) Returns like needed_library_each().
 */
int needed_library_each_preloaded(const struct places *program, const char *preload,
				  const struct needed_library_visitor *visitor);
