/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the layout of a version of CPython (capture/unwind/python-layouts.h) with the headers of
 * this version, and prints the row that the headers give. The exit status is 1 if they differ, and
 * 2 if the version has no row.
 *
 *	cc -I . -I /usr/include/python3.11 -I /usr/include/python3.11/internal python-layout.c
 */
#define Py_BUILD_CORE 1
#include <Python.h>

#include <pycore_frame.h>
#include <pycore_interp.h>
#include <pycore_runtime.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "capture/unwind/python-layouts.h"

int main(void)
{
	const struct python_layout_row row = {
		.version = PY_VERSION_HEX >> 16,
		.runtime_bytes = sizeof(_PyRuntimeState),
		.layout = {
			.runtime_current = offsetof(_PyRuntimeState, gilstate.tstate_current),
			.runtime_key = offsetof(_PyRuntimeState, gilstate.autoTSSkey._key),
			.thread_id = offsetof(PyThreadState, thread_id),
			.thread_cframe = offsetof(PyThreadState, cframe),
			.cframe_current = offsetof(_PyCFrame, current_frame),
			.cframe_previous = offsetof(_PyCFrame, previous),
			.frame_code = offsetof(_PyInterpreterFrame, f_code),
			.frame_previous = offsetof(_PyInterpreterFrame, previous),
			.frame_instruction = offsetof(_PyInterpreterFrame, prev_instr),
			.object_type = offsetof(PyObject, ob_type),
			.code_units = offsetof(PyVarObject, ob_size),
			.code_first_line = offsetof(PyCodeObject, co_firstlineno),
			.code_instructions = offsetof(PyCodeObject, co_code_adaptive),
			.code_file = offsetof(PyCodeObject, co_filename),
			.code_name = offsetof(PyCodeObject, co_name),
			.code_qualname = offsetof(PyCodeObject, co_qualname),
			.code_lines = offsetof(PyCodeObject, co_linetable),
			.text_length = offsetof(PyASCIIObject, length),
			.text_hash = offsetof(PyASCIIObject, hash),
			.text_state = offsetof(PyASCIIObject, state),
			.text_ascii = sizeof(PyASCIIObject),
			.text_wide = sizeof(PyCompactUnicodeObject),
			.bytes_length = offsetof(PyVarObject, ob_size),
			.bytes_data = offsetof(PyBytesObject, ob_sval),
		},
	};
	const __u16 *offsets = (const void *)&row.layout;

	printf("{ 0x%04x, %llu, {", row.version, (unsigned long long)row.runtime_bytes);
	for (size_t i = 0; i < sizeof(row.layout) / sizeof(*offsets); i++)
		printf(" %u", offsets[i]);
	printf(" } }\n");
	for (size_t i = 0; i < PYTHON_LAYOUT_ROWS; i++)
		if (python_layout_rows[i].version == row.version)
			return python_layout_rows[i].runtime_bytes != row.runtime_bytes ||
			       memcmp(&python_layout_rows[i].layout, &row.layout,
				      sizeof(row.layout)) != 0;
	return 2;
}
