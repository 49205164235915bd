/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cheapest place for a probe at the beginning of a function. The kernel emulates a few
 * instructions under a probe. It executes all other instructions out of line with a second trap,
 * which costs several times as much. Functions of the C library often begin with instructions that
 * are not emulated.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "capture/probes/elf-image.h"
#include "capture/probes/instruction.h"

enum { PROLOGUE_BYTES = 32 }; /* the searched part of a function */

/*
 * Returns the offset for a probe in the function whose first N bytes are at P. It is the offset of
 * the first instruction that the kernel emulates, and that every call reaches with unchanged stack
 * pointer and arguments; 0 if no instruction is suitable. The caller must check that no loop
 * contains that instruction.
 */
size_t prologue_offset(struct disassembler *d, const uint8_t *p, size_t n);

/*
 * Finds the place for a probe of the function at VADDR of IMAGE. It is the place that
 * prologue_offset() finds; or the first instruction, if a jump leads to that place or to an
 * instruction between the two, or D is NULL. Returns 0 or -ENOMEM.
 */
int prologue_find(const struct elf_image *image, struct disassembler *d, uint64_t vaddr,
		  uint64_t *ret);
