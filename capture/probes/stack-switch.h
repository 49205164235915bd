/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds code that continues on another stack: it loads the stack pointer with a value that the
 * function has not read from the stack pointer. Coroutines whose switch is written by hand have no
 * function of a known name.
 *
 * Ordinary functions restore their own stack pointer, at the end of a variable-length array or of a
 * stack that they have aligned. longjmp() and the unwinder of exceptions stay on the same stack.
 */
#pragma once

#include "capture/probes/elf-image.h"
#include "capture/probes/instruction.h"

/*
 * Searches the executable sections of IMAGE once. Returns 1 and the address, 0 if there is no such
 * code, -EFBIG if too much code would have to be disassembled and the first part of it has none, or
 * -ENOMEM.
 */
int stack_switch_find(const struct elf_image *image, struct disassembler *d, uint64_t *ret_vaddr);

/*
 * The name, of *RET_N bytes, of the function or label that VADDR is in, or that precedes it and has
 * no size; NULL = none.
 */
const char *stack_switch_name(const struct elf_image *image, uint64_t vaddr, size_t *ret_n);
