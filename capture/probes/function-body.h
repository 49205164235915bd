/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions with computed jumps, such as the string functions of libc. */
#pragma once

#include <stdint.h>

#include "capture/probes/elf-image.h"
#include "capture/probes/instruction.h"

/*
 * Checks that the function at VADDR, which has computed jumps, stays in its own body, and calls
 * nothing there. Each computed jump must lead to a sum with an address in the body, as in the
 * string functions of libc, and no branch may lead to a place between the computation of the sum
 * and the jump. This is checked for each jump, since another jump may lead to an address from
 * memory or from the caller. All code of the body is followed, since some of it may be reached only
 * by a computed jump. Returns 1 if the function stays, 0 if not (or if it has more than BYTES_MAX
 * bytes), or -ENOMEM.
 */
int function_body_stays(const struct elf_image *image, struct disassembler *d, uint64_t bytes_max,
			uint64_t vaddr);
