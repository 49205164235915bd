/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions with computed jumps, such as the string functions of libc. */
#pragma once

#include <stdint.h>

#include "capture/probes/elf-image.h"
#include "capture/probes/instruction.h"

/*
 * Whether the function at VADDR, which has computed jumps, stays in its own body and has no call
 * there. Each such jump must lead to the sum of an address in the body, as in the string functions
 * of libc. No branch leads to a place between the computation of the sum and the jump. This is
 * checked for each jump, since another one may lead to an address from memory or from the caller.
 * All code of the body is followed, since some of it may be reached only by a computed jump.
 * Returns 1 or 0, or -ENOMEM. A function of more than BYTES_MAX bytes counts as one that does not.
 */
int function_body_stays(const struct elf_image *image, struct disassembler *d, uint64_t bytes_max,
			uint64_t vaddr);
