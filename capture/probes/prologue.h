/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where at the beginning of a function a probe costs least. The kernel emulates a few instructions
 * under a probe and has to step over all others, out of line and with a second trap, which costs
 * several times as much; a function of the C library often begins with one of the others.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "capture/probes/elf-image.h"
#include "capture/probes/instruction.h"

enum { PROLOGUE_BYTES = 32 }; /* more need not be given */

/*
 * How many bytes into the function whose first N bytes are at P the probe belongs: to the first
 * instruction that the kernel emulates and that every call comes to with stack pointer and
 * arguments as they were; 0 if there is none. (Whether something jumps back to it is for the caller
 * to see.)
 */
size_t prologue_offset(struct disassembler *d, const uint8_t *p, size_t n);

/*
 * Where the probe of the function at VADDR of IMAGE belongs: as above, unless the function comes
 * there again. D may be NULL: then, as otherwise, its first instruction. Returns 0 or -ENOMEM.
 */
int prologue_find(const struct elf_image *image, struct disassembler *d, uint64_t vaddr,
		  uint64_t *ret);
