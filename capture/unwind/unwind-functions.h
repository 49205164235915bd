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
	bool is_bare;        /* it returns, and never sets the frame pointer */
	bool is_framed;      /* its first instructions set the frame pointer */
	bool has_bare;       /* it, or a function that is joined with it, is bare */
	uint32_t joined;     /* equal in joined functions: the index of the first one */
	uint32_t n_joined;   /* for that function: their number */
};

/*
 * Finds the functions of ELF whose first address is in an executable segment, and for which
 * IS_WANTED is true, by address. Functions that overlap count as one. At most MAX are found. *RET
 * is owned by the caller, also after a failure. Returns 0 or -ENOMEM. (Only their addresses are
 * set.)
 */
int unwind_functions_find(const struct unwind_elf *elf, size_t max,
			  bool (*is_wanted)(uint64_t address, const void *userdata),
			  const void *userdata, struct unwind_function **ret, size_t *ret_n);

/*
 * Judges the N functions at F by their code. They are sorted, and do not overlap.
 *
 * A function is bare only if that is certain: one that ends with a jump can use the frame of the
 * code that jumped to it. Two functions are joined if one of them jumps to the other one. If more
 * than 64 would be joined, they are not.
 */
void unwind_functions_judge(const struct unwind_elf *elf, struct unwind_function *f, size_t n);
