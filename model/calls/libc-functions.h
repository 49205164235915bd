/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arguments and results of libc's functions, so that the specification of a call can omit them:
 * "libc.so.6:fopen" is "libc.so.6:fopen(str path, str mode) -> ptr".
 *
 * - Arguments are read at the entry of a function. Memory that a function only writes is `ptr`,
 *   since it has no valid content at the entry, or `out`, which is read at the return.
 * - Unnamed arguments of variadic functions are omitted, unless most callers pass them (the mode of
 *   open()). Doubles, and all arguments after the sixth, are omitted, too.
 * - No function has the type "errno": they return -1, and errno is in the memory of the thread.
 *   Functions that return the error itself are `enum:errno`.
 */
#pragma once

#include <stddef.h>

struct call_function {
	const char *name;
	const char *signature; /* "(str path, str mode) -> ptr", as in a specification */
};

/* Sorted by name. */
extern const struct call_function call_functions[];
extern const size_t call_n_functions;

/* Returns the signature of the function NAME, or NULL. */
const char *call_function_signature(const char *name);
