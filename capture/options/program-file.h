/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the file for a name: a path, a library (by the name that programs pass to the dynamic
 * linker), or a program (as a shell finds it).
 */
#pragma once

#include <stddef.h>

/* The dynamic linker's cache of libraries, in the format of ldconfig. */
#define PROGRAM_FILE_CACHE "/etc/ld.so.cache"

/*
 * Writes the path of NAME to PATH, of SIZE bytes: NAME itself if it contains a '/', else a library
 * in CACHE or the usual directories, else a program in SEARCH (directories separated by colons; may
 * be NULL). Returns 0, -ENOENT, or -ENAMETOOLONG.
 */
int program_file_find(const char *name, const char *cache, const char *search, char *path,
		      size_t size);

/*
 * Writes the whole name of the library NAME in CACHE to RET, of SIZE bytes: "libc" is libc.so.6.
 * Returns 0, -ENOENT, or -ENAMETOOLONG.
 */
int program_file_library(const char *name, const char *cache, char *ret, size_t size);
