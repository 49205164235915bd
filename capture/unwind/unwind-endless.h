/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of other files that never return, such as abort(). The code after a call of one of them
 * belongs to another function. Such functions are recognized by their names in the tables of the
 * dynamic linker.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/unwind/unwind-elf.h"

/* The addresses of the words to which the dynamic linker writes the addresses of such functions. */
struct unwind_endless {
	uint64_t *slots; /* owned */
	size_t n, room;
};

/* Returns 0 or -ENOMEM. E can be deinitialised in each case. */
int unwind_endless_find(struct unwind_endless *e, const struct unwind_elf *elf);
void unwind_endless_deinit(struct unwind_endless *e);

bool unwind_endless_has_slot(const struct unwind_endless *e, uint64_t slot);

/* Returns true if the code at ADDRESS is an entry of the PLT that jumps to such a function. */
bool unwind_endless_is_plt(const struct unwind_endless *e, const struct unwind_elf *elf,
			   uint64_t address);
