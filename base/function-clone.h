/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Clones: copies of a function that a compiler makes for some callers of the function. Their names
 * begin with its name ("f.constprop.0"). Where the source has one function, the program has
 * several.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns the length of the symbol NAME without the suffixes of clones. */
size_t function_clone_base(const char *name);

/* Returns true if the symbol NAME is a clone of the function BASE. */
bool function_clone_is_of(const char *name, const char *base);

/*
 * Returns true if the symbol NAME names a part of a function, or of a clone, that the compiler has
 * moved away ("f.cold"). The code jumps to such a part, so there is no return address on the stack.
 */
bool function_clone_is_cold(const char *name);

/*
 * Whether the symbol NAME is of a function that compilers make to choose one of the versions of a
 * function at run time ("f.resolver").
 */
bool function_clone_is_resolver(const char *name);

/* Whether the arguments of a clone with the symbol NAME can differ from those of its function. */
bool function_clone_is_changed(const char *name);

/*
 * Finds out how a clone with the symbol NAME differs from its function: whether its arguments can
 * differ, and whether it can lack a result.
 */
void function_clone_changes(const char *name, bool *ret_arguments, bool *ret_result);
