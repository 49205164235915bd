/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds code that continues on another stack: it loads the stack pointer with a value that the
 * function has not read from the stack pointer. If the switch of coroutines is written by hand, its
 * function has no known name.
 *
 * Ordinary functions restore their own stack pointer, at the end of a variable-length array or of a
 * stack that they have aligned. longjmp() and the unwinder of exceptions stay on the same stack.
 */
#pragma once

#include "capture/probes/elf-image.h"
#include "capture/probes/instruction.h"

/*
 * Searches the executable sections of IMAGE once. Returns 1 and the address, 0 if no such code is
 * found, -EFBIG if there is too much code to disassemble and the first part has no such code, or
 * -ENOMEM.
 */
int stack_switch_find(const struct elf_image *image, struct disassembler *d, uint64_t *ret_vaddr);

/*
 * Returns the name, of *RET_N bytes, of the function or label in which VADDR is, or of the last
 * label without a size before it; NULL = no name.
 */
const char *stack_switch_name(const struct elf_image *image, uint64_t vaddr, size_t *ret_n);
