/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Types of DWARF as shapes (place-print.h), and as source text.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"

enum { PLACE_SHAPE_MAX = 1 << 14 }; /* maximum size of the text of a shape, NUL included */

enum { PLACE_TYPE_NAME_MAX = 256 };

/*
 * Finds the type of DIE, a variable or member, without qualifiers and typedefs. Returns false for
 * void.
 */
bool place_type_of(Dwarf_Die *die, Dwarf_Die *ret);
/* Like place_type_of(), but returns true for an unspecified type, such as that of nullptr. */
bool place_type_of_any(Dwarf_Die *die, Dwarf_Die *ret);

/* Returns the size of TYPE in bytes; 0 = TYPE has no size, or a size that is known only at run
 * time. */
uint64_t place_type_bytes(Dwarf_Die *type);

/*
 * Appends the shape of TYPE, which has no qualifiers or typedefs. Returns 0, -EMSGSIZE (the type
 * has too many parts, and TO is unchanged), or -ENOMEM.
 */
int place_type_shape(Dwarf_Die *type, struct outbuf *to);

/*
 * Sets *RET_BIT to the first bit of MEMBER, whose type has BYTES, in its structure. *RET_BITS is
 * the width of a bit field; 0 = MEMBER is no bit field. Returns false if the position is computed
 * at run time (for a virtual base).
 */
bool place_type_member(Dwarf_Die *member, uint64_t bytes, uint64_t *ret_bit, uint64_t *ret_bits);

/*
 * Returns true if DIE, a child of a structure, takes memory in it: a member or a base. (Static
 * members are only declared in the structure.)
 */
bool place_type_is_member(Dwarf_Die *die);

/* Gets the attribute NAME of DIE as a number. Returns false if there is none. */
bool place_type_number(Dwarf_Die *die, unsigned name, uint64_t *ret);

/* Writes the type of DIE to TO, as in C and C++ source. */
void place_type_name(Dwarf_Die *die, char to[static PLACE_TYPE_NAME_MAX]);

/* Returns the name of DIE, or of the DIE whose instance it is; NULL = there is no name. */
const char *place_die_name(Dwarf_Die *die);
