/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cold parts of functions ("f.cold"): code that compilers move away from a function, because it
 * runs rarely. The handlers of exceptions are often there, and no jump leads to them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/probes/elf-image.h"

struct cold_part {
	uint64_t function;     /* the address of the function to which it belongs */
	uint64_t vaddr, bytes; /* its code */
};

struct cold_parts {
	struct cold_part *list; /* owned */
	size_t n, room;
	bool is_full; /* the maximum number was found, and others are left out */
};

/*
 * Finds the cold parts in IMAGE by their symbols. If functions of several units have the same name,
 * each cold part of this name counts as a part of each. Returns 0 or -ENOMEM.
 */
int cold_parts_find(const struct elf_image *image, struct cold_parts *ret);

void cold_parts_deinit(struct cold_parts *parts);
