/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's structures that calls receive in memory, printed as strace does. The type of an
 * argument names one: "struct:stat", "struct:pollfd[n]" (capture/options/call-spec.h).
 *
 * Several rows can have one name, and the content of the memory selects one of them: the members of
 * a socket address depend on its family. Numbers of rows change from one version to the next.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/calls/call-struct-members.h"

enum { CALL_STRUCT_NONE = 0 };

/*
 * Returns the number of the structure NAME (N bytes): "struct:stat". CALL_STRUCT_NONE = no such
 * structure.
 */
unsigned call_struct_find(const char *name, size_t n);

/* Returns the first row of the structure NUMBER, or NULL. Numbers begin at 1. */
const struct call_struct *call_struct_by_number(unsigned number);

/*
 * Returns the kind of the list ROW, one of CALL_MEMBER_STRINGS to CALL_MEMBER_SENT;
 * CALL_MEMBER_INT = it is no list. call_struct_format() writes nothing for a list.
 */
enum call_member_kind call_struct_list(const struct call_struct *row);

/*
 * Writes the structure NUMBER to TO (SIZE > 0 bytes). The structure is at FROM, where N bytes are
 * available. The text is cut if it does not fit. Returns the length; 0 = too few bytes are
 * available.
 */
size_t call_struct_format(unsigned number, const void *from, size_t n, char *to, size_t size);

/*
 * Writes an array of COUNT structures like call_struct_format(), in brackets. Missing structures
 * are "...".
 */
size_t call_struct_format_array(unsigned number, const void *from, size_t n, size_t count, char *to,
				size_t size);
