/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a function begins at an address, according to the file's symbols or its unwind table. A
 * probe in the middle of an instruction would break the program.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/probes/elf-image.h"

bool function_start_is(const struct elf_image *image, uint64_t vaddr);

/* The first function that begins after VADDR. False if there is none. */
bool function_start_after(const struct elf_image *image, uint64_t vaddr, uint64_t *ret);

/* The last function that begins at or before VADDR. False if there is none. */
bool function_start_before(const struct elf_image *image, uint64_t vaddr, uint64_t *ret);

/*
 * Where functions and labels begin, up to a maximum: *RET is sorted, and the caller frees it.
 * Returns 0 or -ENOMEM.
 */
int function_start_list(const struct elf_image *image, uint64_t **ret, size_t *ret_n);
