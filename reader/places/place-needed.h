/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The libraries that a file needs, as the dynamic linker finds them in the file.
 */
#pragma once

#include "reader/places/places.h"

/*
 * Returns the name of needed library I, from 0 on, in the order of the file; NULL = there are fewer
 * libraries.
 */
const char *place_needed_name(const struct places *p, size_t i);

/*
 * Returns true if the dynamic linker loads the file as a program. The dynamic linker does not load
 * static programs: these name no interpreter. (The dynamic linker itself names no interpreter,
 * either. It can be started with the path of a program.)
 */
bool place_needed_is_dynamic(const struct places *p);

/*
 * Returns true if both files have the same word size. The dynamic linker does not load a library if
 * not.
 */
bool place_needed_same_size(const struct places *a, const struct places *b);

enum place_needed_path {
	PLACE_NEEDED_RUNPATH, /* used for the libraries of the file itself */
	/* Also used for the libraries that those libraries need; ignored if there is a RUNPATH. */
	PLACE_NEEDED_RPATH,
};

/*
 * Returns the directories, separated by colons, in which the file's libraries are searched; NULL =
 * no such list.
 */
const char *place_needed_path(const struct places *p, enum place_needed_path path);
