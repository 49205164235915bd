/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Demangles names: C++ (Itanium ABI) and Rust (legacy and v0).
 *
 * Mangled names refer back to parts of themselves. So a few hundred bytes can stand for a text of
 * any size, or for endless work without any text. The effort is computed in advance, and names that
 * no compiler makes are left unchanged.
 */
#pragma once

#include <stddef.h>

enum { DEMANGLE_NAME_MAX = 4096 /* bytes; longer names are ignored */ };

/*
 * Writes the demangled NAME to TO, which has ROOM (> 4) bytes with the NUL; a text that is cut ends
 * in "...". Returns the length of the text; 0 = NAME is not mangled, or is too expensive to
 * demangle.
 */
size_t demangle(char *to, size_t room, const char *name);
