/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names as they stand in source: C++ (Itanium ABI) and Rust (legacy and v0).
 *
 * Mangled names refer back to parts of themselves, so that a few hundred bytes can stand for a text
 * of any size, or for work without end and no text at all. How much that would be is found out
 * before, and names that nobody's compiler makes are left as they are.
 */
#pragma once

#include <stddef.h>

enum { DEMANGLE_NAME_MAX = 4096 /* bytes; longer names are not looked at */ };

/*
 * Writes what NAME means to TO (ROOM > 4 bytes, with the NUL; "..." at the end of what was cut).
 * Returns its length, or 0 if the name is not mangled, or not one to try.
 */
size_t demangle(char *to, size_t room, const char *name);
