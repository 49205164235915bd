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

/* Finds the first function that begins after VADDR. Returns false if no function does. */
bool function_start_after(const struct elf_image *image, uint64_t vaddr, uint64_t *ret);

/* Finds the last function that begins at or before VADDR. Returns false if no function does. */
bool function_start_before(const struct elf_image *image, uint64_t vaddr, uint64_t *ret);

/*
 * Lists where functions and labels begin, up to a maximum number. *RET is sorted, and the caller
 * frees it. Returns 0 or -ENOMEM.
 */
int function_start_list(const struct elf_image *image, uint64_t **ret, size_t *ret_n);
