/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code of a file without a table: its instructions, and from which of them a function can return.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/unwind/unwind-code-x86.h"
#include "capture/unwind/unwind-elf.h"
#include "capture/unwind/unwind-endless.h"

struct code_range {
	uint64_t begin, end;
	const uint8_t *code; /* borrowed */
	size_t first;        /* set by unwind_code_init(): the index of its first byte */
};

/* Marks of an instruction. */
enum {
	/* A return, or a jump elsewhere, can be reached from here. */
	UNWIND_CODE_RETURNS = 1,
	UNWIND_CODE_CERTAIN = 2,  /* likewise, and all calls before it return for certain */
	UNWIND_CODE_BOUND = 8,    /* a symbol says that a function begins or ends here */
	UNWIND_CODE_BOUNDED = 16, /* this is inside of such a function */
	UNWIND_CODE_FREE = 32,    /* further marks can be used by others */
};

enum { UNWIND_CODE_BYTES_MAX = 16 << 20, UNWIND_CODE_PASSES_MAX = 32 };

struct unwind_code {
	const struct unwind_elf *elf; /* borrowed */
	struct code_range *ranges;    /* sorted, borrowed */
	size_t n_ranges;
	size_t n_bytes;
	uint8_t *marks; /* owned; for each byte */
	struct unwind_endless endless;
};

/*
 * Reads the code in the N RANGES. If it has more than UNWIND_CODE_BYTES_MAX, it is not read, and
 * there are no marks. Returns 0 or -ENOMEM. C can be deinitialised in each case.
 */
int unwind_code_init(struct unwind_code *c, const struct unwind_elf *elf, struct code_range *ranges,
		     size_t n);
void unwind_code_deinit(struct unwind_code *c);

/*
 * Returns the index of the first byte of the function with symbol I. SIZE_MAX = it is no function,
 * a part of one that the compiler has moved away, or not in the ranges. *RET_SIZE is its size.
 */
size_t unwind_code_function(const struct unwind_code *c, size_t i, uint64_t *ret_size);

/* Returns the index of the byte at ADDRESS; SIZE_MAX = it is not in the ranges. */
size_t unwind_code_index(const struct unwind_code *c, uint64_t address);

/* Returns the range with the byte INDEX. */
const struct code_range *unwind_code_range_at(const struct unwind_code *c, size_t index);

/* Returns the first range that ends behind ADDRESS, or NULL. */
const struct code_range *unwind_code_range_after(const struct unwind_code *c, uint64_t address);

/* Returns the index behind the last byte of RANGE. */
static inline size_t unwind_code_end(const struct code_range *range)
{
	return range->first + (size_t)(range->end - range->begin);
}

/* Decodes the instruction at INDEX in RANGE. */
bool unwind_code_decode(const struct code_range *range, size_t index, struct code_instruction *ret);

/*
 * Returns true if the call I can return, as far as is known. TARGET is the index of the called
 * function.
 */
bool unwind_code_can_return(const struct unwind_code *c, const struct code_instruction *i,
			    size_t target);
