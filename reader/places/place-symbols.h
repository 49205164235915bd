/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the addresses of symbols by name, also those of data. All symbols are read at the first
 * search.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader/symbols/elf-file.h"

struct place_symbols {
	struct place_symbol *list; /* owned; by name */
	size_t n, room;
	bool loaded;
};

void place_symbols_deinit(struct place_symbols *s);

/*
 * Finds the address of the symbol whose name is the N bytes at NAME, in FILES (NULL = no file). All
 * calls must have the same files, which must stay open. Returns 1 with *RET; 0 if no file defines
 * the symbol, or if symbols of this name have different addresses; or -ENOMEM.
 */
int place_symbols_address(struct place_symbols *s, const struct elf_file *const files[2],
			  const char *name, size_t n, uint64_t *ret);
