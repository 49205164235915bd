/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Types of DWARF as shapes (place-print.h), and as people write them.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"

enum { PLACE_SHAPE_MAX = 1 << 14 }; /* bytes of the text of a shape, the NUL included */

enum { PLACE_TYPE_NAME_MAX = 256 };

/* The type that DIE, a variable or member, has, without qualifiers and typedefs. False: void. */
bool place_type_of(Dwarf_Die *die, Dwarf_Die *ret);
/* Likewise, but true for an unspecified type, such as that of nullptr. */
bool place_type_of_any(Dwarf_Die *die, Dwarf_Die *ret);

/* Bytes of TYPE; 0 = that is known only when the program runs, or it has none. */
uint64_t place_type_bytes(Dwarf_Die *type);

/*
 * Appends the shape of TYPE (peeled). Returns 0, -EMSGSIZE (it has too many parts: TO is as it was
 * before), or -ENOMEM.
 */
int place_type_shape(Dwarf_Die *type, struct outbuf *to);

/*
 * The first bit of MEMBER in a structure, whose type has BYTES. *RET_BITS is 0 unless it is a bit
 * field. Returns false if the position is computed (for a virtual base).
 */
bool place_type_member(Dwarf_Die *member, uint64_t bytes, uint64_t *ret_bit, uint64_t *ret_bits);

/*
 * Whether DIE, a child of a structure, is a part of its memory: a member or a base. (Static members
 * are only declared in the type.)
 */
bool place_type_is_member(Dwarf_Die *die);

/* The attribute NAME of DIE as a number. */
bool place_type_number(Dwarf_Die *die, unsigned name, uint64_t *ret);

/* Writes the type of DIE, as C and C++ have it, to TO. */
void place_type_name(Dwarf_Die *die, char to[static PLACE_TYPE_NAME_MAX]);

/* The name of DIE, or of that which it is an instance of; NULL = none. */
const char *place_die_name(Dwarf_Die *die);
