/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pool of texts, for results. Each text is stored once, and lives as long as the pool.
 */
#pragma once

#include <stddef.h>

#include "base/table.h"

struct text_pool {
	struct table texts; /* hash -> struct text_pool_entry, a chain */
};

void text_pool_deinit(struct text_pool *p);

/*
 * Returns the text of N bytes at FROM, cleaned for display (text_clean()), as a text of the pool;
 * NULL = no memory.
 */
const char *text_pool_add(struct text_pool *p, const char *from, size_t n);

/*
 * Returns the demangled form of the symbol of N bytes at FROM, followed by SUFFIX (static), as a
 * text of the pool; NULL = no memory. Each symbol is demangled once.
 */
const char *text_pool_add_symbol(struct text_pool *p, const char *from, size_t n,
				 const char *suffix);
