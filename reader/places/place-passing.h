/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a structure is passed by value, by the C++ ABI for Itanium, section 3.1.1: if a function must
 * be called to copy, move or destroy the structure, the caller makes the copy and passes its
 * address.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>

/* Returns true if structures of TYPE are passed, and returned, by their address. */
bool place_type_is_by_address(Dwarf_Die *type);
