/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What functions of libc are given and return, so that a specification of a call can go without it:
 * "libc.so.6:fopen" is "libc.so.6:fopen(str path, str mode) -> ptr".
 *
 * - Arguments are read where a function is entered. What it only writes to is `ptr`: there is
 *   nothing yet, or what another function left; or `out`, which is read where it returns.
 * - Of variadic functions those arguments that have no name in the prototype are left out, unless
 *   most callers give them (the mode of open()). So are doubles, and all behind the sixth.
 * - "errno" is nowhere: these functions return -1, and errno is in the memory of the thread. Those
 *   that return the error itself are `enum:errno`.
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

/* The signature of the function NAME, or NULL. */
const char *call_function_signature(const char *name);
