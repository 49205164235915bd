/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that is freed at once: of a call, or of all signatures.
 */
#pragma once

#include <stddef.h>

struct apitrace_pool {
	struct apitrace_pool_block *blocks; /* owned; the newest first */
	size_t bytes;                       /* that were allocated for it */
};

void apitrace_pool_deinit(struct apitrace_pool *p);

/* SIZE bytes, zeroed, aligned for any type; or NULL. */
void *apitrace_pool_get(struct apitrace_pool *p, size_t size);
