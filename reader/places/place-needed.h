/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The instructions for the dynamic linker in a file: the libraries that the file needs, and where
 * to search.
 */
#pragma once

#include "reader/places/places.h"

/*
 * Returns the name of needed library I, from 0, in the order of the file; NULL = there is none.
 */
const char *place_needed_name(const struct places *p, size_t i);

/*
 * Returns true if the dynamic linker loads the file as a program: static programs name no
 * interpreter. (The dynamic linker itself names none, either, although it can be started with the
 * path of a program.)
 */
bool place_needed_is_dynamic(const struct places *p);

/*
 * Returns true if A and B have the same word size. If not, the dynamic linker does not load one for
 * the other.
 */
bool place_needed_same_size(const struct places *a, const struct places *b);

enum place_needed_path {
	PLACE_NEEDED_RUNPATH, /* used for the libraries of the file itself */
	/* Also used for libraries that these libraries need. Ignored if there is a RUNPATH. */
	PLACE_NEEDED_RPATH,
};

/*
 * Returns the directories, with colons between them, in which the file's libraries are searched;
 * NULL = the file has no such list.
 */
const char *place_needed_path(const struct places *p, enum place_needed_path path);
