/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The widths of numbers in trace-db's layouts, in bytes. */
#pragma once

#include "writer/tracedb/tracedb-model.h"

struct tracedb_widths {
	/* Width of the size of the block of names; the block includes the NULs. */
	uint8_t names_bytes;
	uint8_t n_types;
	uint8_t type_name; /* width of a type's name */
	uint8_t type_name_pad;
	uint8_t type_size;     /* width of a type's size; the format before it has four bytes */
	uint8_t type_size_pad; /* padding, so that a type has 12 bytes in either layout */
	uint8_t statement;
	uint8_t number; /* width of a variable's name and type */
	uint8_t size;   /* width of the size of a value whose type has no size */
};

static const struct tracedb_widths tracedb_widths[] = {
	[TRACEDB_W16] = { 2, 2, 2, 2, 1, 3, 4, 2, 2 },
	[TRACEDB_W64] = { 8, 4, 4, 0, 4, 0, 8, 4, 4 },
};

#define TRACEDB_TYPE_BYTES 12
