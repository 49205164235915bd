/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file a name means: a path, a library by the name that programs ask the dynamic linker for,
 * or a program that the shell would run.
 */
#pragma once

#include <stddef.h>

/* The dynamic linker's list of libraries, as ldconfig writes it. */
#define PROGRAM_FILE_CACHE "/etc/ld.so.cache"

/*
 * The path of NAME into PATH, of SIZE bytes: as it is if there is a '/' in it; else a library of
 * CACHE or of the usual directories, else a program in SEARCH (directories with colons between
 * them; may be NULL). Returns 0, -ENOENT, or -ENAMETOOLONG.
 */
int program_file_find(const char *name, const char *cache, const char *search, char *path,
		      size_t size);
