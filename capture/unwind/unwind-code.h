/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that no table describes: its instructions, and the instructions from which a function can
 * return.
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
	/* A return, or a jump to code that is not known, can be reached from here. */
	UNWIND_CODE_RETURNS = 1,
	/* A return can be reached by a path whose calls all return for certain */
	UNWIND_CODE_CERTAIN = 2,
	UNWIND_CODE_BOUND = 8, /* a symbol says that a function begins or ends here */
	/* Inside of a function whose symbol says where it begins and ends */
	UNWIND_CODE_BOUNDED = 16,
	UNWIND_CODE_FREE = 32, /* the first mark that other modules can use */
};

enum { UNWIND_CODE_BYTES_MAX = 16 << 20, UNWIND_CODE_NO_TARGET = UINT32_MAX };

/* An instruction, as far as it concerns frames. An index is the number of a byte in all ranges. */
struct code_step {
	uint32_t index;
	uint32_t target; /* UNWIND_CODE_NO_TARGET: none, or not in the ranges */
	/* `n` of the effect, or with CODE_STEP_NUMBER: the number that is loaded into eax. */
	int32_t n;
	uint8_t length;
	uint8_t kind;   /* enum code_kind; a call of the next instruction is CODE_PLAIN */
	uint8_t effect; /* enum code_effect */
	uint8_t flags;
};

enum {
	CODE_STEP_PADDING = 1,
	CODE_STEP_SYSCALL = 2,
	CODE_STEP_NUMBER = 4,
	CODE_STEP_SLOT = 8,     /* the operand is a word at a fixed place */
	CODE_STEP_ENDLESS = 16, /* leads to code elsewhere that never returns */
	CODE_STEP_LAST = 32,    /* no instruction of its range follows */
};

struct unwind_code {
	const struct unwind_elf *elf; /* borrowed */
	struct code_range *ranges;    /* sorted, borrowed */
	size_t n_ranges;
	size_t n_bytes;
	uint8_t *marks; /* owned; for each byte */
	struct unwind_endless endless;
	/*
	 * The instructions that were decoded. For each byte, `numbers` has 1 + the number of the
	 * instruction that begins there, or 0.
	 */
	struct code_step *steps; /* owned */
	size_t n_steps, room_steps;
	uint32_t *numbers; /* owned */
	int error;
};

/*
 * Reads the code in the N RANGES. If the code has more than UNWIND_CODE_BYTES_MAX bytes, it is not
 * read, and there are no marks. Returns 0 or -ENOMEM. C can be deinitialised in each case.
 */
int unwind_code_init(struct unwind_code *c, const struct unwind_elf *elf, struct code_range *ranges,
		     size_t n);
void unwind_code_deinit(struct unwind_code *c);

/*
 * Returns the index of the first byte of the function with symbol I. SIZE_MAX = the symbol is not a
 * function, is a part that the compiler has moved away from its function, or is not in the ranges.
 * *RET_SIZE is its size.
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

/*
 * Returns the instruction at INDEX; NULL = it is invalid, or there is no memory (see `error`). The
 * next call can invalidate the result.
 */
const struct code_step *unwind_code_read(struct unwind_code *c, size_t index);

/* Returns the instruction at INDEX, if it was decoded before. */
static inline const struct code_step *unwind_code_step_at(const struct unwind_code *c, size_t index)
{
	return c->numbers[index] != 0 ? &c->steps[c->numbers[index] - 1] : NULL;
}

/* Returns true if the call S can return, as far as is known. */
bool unwind_code_can_return(const struct unwind_code *c, const struct code_step *s);
