/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of an ELF file whose frames nothing describes. They are found by the symbols of the
 * file. Their code shows whether they can have a frame pointer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/unwind/unwind-elf.h"

struct unwind_function {
	uint64_t begin, end; /* addresses of the file */
};

/*
 * Finds the functions of ELF whose first address is in an executable segment, and for which
 * IS_WANTED is true, by address. Functions that overlap count as one. At most MAX are found. *RET
 * is owned by the caller, also after a failure. Returns 0 or -ENOMEM.
 */
int unwind_functions_find(const struct unwind_elf *elf, size_t max,
			  bool (*is_wanted)(uint64_t address, const void *userdata),
			  const void *userdata, struct unwind_function **ret, size_t *ret_n);

/*
 * Returns true if FUNCTION returns, and never sets the frame pointer. False if this
 * is not certain: functions that end with a jump can use the frame of the code that jumped to them.
 */
bool unwind_function_is_bare(const struct unwind_elf *elf, const struct unwind_function *function);
