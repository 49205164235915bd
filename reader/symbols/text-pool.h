/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts that live as long as the pool, each stored once: the texts of results.
 */
#pragma once

#include <stddef.h>

#include "base/table.h"

struct text_pool {
	struct table texts; /* hash -> struct text_pool_entry, a chain */
};

void text_pool_deinit(struct text_pool *p);

/*
 * Returns the text of N bytes at FROM, cleaned for display (text_clean()), in the pool. Returns
 * NULL without memory.
 */
const char *text_pool_add(struct text_pool *p, const char *from, size_t n);

/*
 * Returns the demangled form of the N bytes at FROM, a symbol, followed by SUFFIX (static), in the
 * pool. Each symbol is demangled once. Returns NULL without memory.
 */
const char *text_pool_add_symbol(struct text_pool *p, const char *from, size_t n,
				 const char *suffix);
