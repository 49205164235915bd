/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interpreter of Python in an ELF file (docs/architecture/python.md).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record-python.h"
#include "capture/unwind/unwind-elf.h"

/* Addresses are those of the file. All members are 0 if the file has no interpreter. */
struct unwind_python {
	uint64_t runtime, runtime_bytes; /* _PyRuntime */
	uint64_t code_type;              /* PyCode_Type; 0 = unknown */
	uint64_t version;                /* Py_Version; 0 = unknown */
	/*
	 * The function that executes the code of Python, and a second part of this function at
	 * another place, which can be empty
	 */
	struct {
		uint64_t begin, end;
	} parts[PYTHON_CODE_PARTS];
};

/*
 * Finds the interpreter in ELF. FUNCTION_AT stores the range of the function, or of the part of a
 * function, that contains ADDRESS, by the call frame information. FUNCTION_AT returns false if no
 * function contains ADDRESS.
 */
void unwind_python_find(const struct unwind_elf *elf,
			bool (*function_at)(void *userdata, uint64_t address, uint64_t *ret_begin,
					    uint64_t *ret_end),
			void *userdata, struct unwind_python *ret);
