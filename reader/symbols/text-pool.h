/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts that live as long as the pool, each of them once: what answers point to.
 */
#pragma once

#include <stddef.h>

#include "base/table.h"

struct text_pool {
	struct table texts; /* by hash; chains of struct text_pool_entry */
};

void text_pool_deinit(struct text_pool *p);

/* The text of N bytes at FROM, cleaned for people (text_clean()). Returns NULL without memory. */
const char *text_pool_add(struct text_pool *p, const char *from, size_t n);

/*
 * What the N bytes at FROM, a symbol, are called in source, and SUFFIX (static) after that. As
 * text_pool_add(), but it is found out once.
 */
const char *text_pool_add_symbol(struct text_pool *p, const char *from, size_t n,
				 const char *suffix);
