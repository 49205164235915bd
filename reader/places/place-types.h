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
 * The type of DIE, a variable or member, without qualifiers and typedefs. Returns false for void.
 */
bool place_type_of(Dwarf_Die *die, Dwarf_Die *ret);
/* Like place_type_of(), but returns true for an unspecified type, such as that of nullptr. */
bool place_type_of_any(Dwarf_Die *die, Dwarf_Die *ret);

/* Returns the size of TYPE in bytes; 0 = it is known only at run time, or TYPE has no size. */
uint64_t place_type_bytes(Dwarf_Die *type);

/*
 * Appends the shape of TYPE, which has no qualifiers or typedefs. Returns 0, -EMSGSIZE (the type
 * has too many parts; TO is unchanged), or -ENOMEM.
 */
int place_type_shape(Dwarf_Die *type, struct outbuf *to);

/*
 * Sets *RET_BIT to the first bit of MEMBER in its structure. The type of MEMBER has BYTES bytes.
 * *RET_BITS is 0 unless MEMBER is a bit field. Returns false if the position is computed (for a
 * virtual base).
 */
bool place_type_member(Dwarf_Die *member, uint64_t bytes, uint64_t *ret_bit, uint64_t *ret_bits);

/*
 * Returns true if DIE, a child of a structure, is a part of its memory: a member or a base. (Static
 * members are only declared in the type.)
 */
bool place_type_is_member(Dwarf_Die *die);

/* The attribute NAME of DIE as a number. */
bool place_type_number(Dwarf_Die *die, unsigned name, uint64_t *ret);

/* Writes the type of DIE to TO, as in C and C++ source. */
void place_type_name(Dwarf_Die *die, char to[static PLACE_TYPE_NAME_MAX]);

/* Returns the name of DIE, or of the DIE of which it is an instance; NULL = no name. */
const char *place_die_name(Dwarf_Die *die);
