/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that is freed at once: the memory of a call, or of all signatures.
 */
#pragma once

#include <stddef.h>

struct apitrace_pool {
	struct apitrace_pool_block *blocks; /* owned; the newest first */
	size_t bytes;                       /* number of bytes that were allocated for the pool */
};

void apitrace_pool_deinit(struct apitrace_pool *p);

/* Allocates SIZE bytes, zeroed and aligned for any type. Returns NULL if there is no memory. */
void *apitrace_pool_get(struct apitrace_pool *p, size_t size);
