/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Addresses of symbols by name, also of data. All symbols are read at the first search.
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
 * Finds the symbol with the name of the N bytes at NAME, which one of the FILES defines (NULL = no
 * file). All calls have the same files, which stay open. Returns 1, with its address; 0 if there is
 * none, or if symbols of this name have several addresses; or -ENOMEM.
 */
int place_symbols_address(struct place_symbols *s, const struct elf_file *const files[2],
			  const char *name, size_t n, uint64_t *ret);
