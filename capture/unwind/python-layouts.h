/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layouts of CPython (bpf/record-python.h), one row for each version. A build belongs to a row
 * if its version and the size of its _PyRuntime are those of the row: this size depends on each
 * structure in _PyRuntime and on options of the build. Offsets inside of a release do not change
 * after its first final version.
 *
 * tests/support/loads/python-layout.c compares a row with the headers of the version.
 */
#pragma once

#include "bpf/record-python.h"
#include "capture/unwind/unwind-python.h"

struct python_layout_row {
	uint32_t version; /* the upper half of Py_Version */
	uint64_t runtime_bytes;
	struct python_layout layout;
};

static const struct python_layout_row python_layout_rows[] = {
	{ 0x030b,
	  166688,
	  { .runtime_current = 576,
	    .runtime_key = 596,
	    .thread_id = 152,
	    .thread_cframe = 56,
	    .cframe_current = 8,
	    .cframe_previous = 16,
	    .frame_code = 32,
	    .frame_previous = 48,
	    .frame_instruction = 56,
	    .object_type = 8,
	    .code_units = 16,
	    .code_first_line = 72,
	    .code_instructions = 184,
	    .code_file = 112,
	    .code_name = 120,
	    .code_qualname = 128,
	    .code_lines = 136,
	    .text_length = 16,
	    .text_hash = 24,
	    .text_state = 32,
	    .text_ascii = 48,
	    .text_wide = 72,
	    .bytes_length = 16,
	    .bytes_data = 32 } },
};

enum { PYTHON_LAYOUT_ROWS = sizeof(python_layout_rows) / sizeof(python_layout_rows[0]) };
_Static_assert(PYTHON_LAYOUT_ROWS <= PYTHON_LAYOUTS_MAX, "the map has an element for each row");

/*
 * Returns the number of the row for the interpreter P, from 1 on; 0 = P is no interpreter,
 * PYTHON_LAYOUT_UNKNOWN = no row fits.
 */
static inline uint32_t python_layout_number(const struct unwind_python *p)
{
	if (!p->runtime)
		return 0;
	for (uint32_t i = 0; i < PYTHON_LAYOUT_ROWS; i++)
		if (p->code_type && python_layout_rows[i].version == p->version >> 16 &&
		    python_layout_rows[i].runtime_bytes == p->runtime_bytes)
			return i + 1;
	return PYTHON_LAYOUT_UNKNOWN;
}
