/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts that are kept once each, as long as the pool: equal texts have one address.
 */
#pragma once

#include "base/table.h"

/* All zeroes is an empty one. */
struct text_pool {
	struct table texts; /* hash -> struct pooled, a chain */
};

void text_pool_deinit(struct text_pool *p);

/* The pool's copy of TEXT; "" is its own. NULL without memory. */
const char *text_pool_keep(struct text_pool *p, const char *text);
