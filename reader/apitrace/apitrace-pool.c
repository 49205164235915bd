/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/apitrace/apitrace-pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Most calls fit into the first block. The first block is small, since many calls can be open at
 * once, and each has a pool.
 */
enum { FIRST_BYTES = 512, BLOCK_BYTES_MAX = 65536, ALIGN = 16 };

struct apitrace_pool_block {
	struct apitrace_pool_block *next;
	size_t room, used;
	_Alignas(ALIGN) char data[];
};

void apitrace_pool_deinit(struct apitrace_pool *p)
{
	while (p->blocks) {
		struct apitrace_pool_block *b = p->blocks;

		p->blocks = b->next;
		free(b);
	}
	p->bytes = 0;
}

static struct apitrace_pool_block *apitrace_pool_grow(struct apitrace_pool *p, size_t size)
{
	size_t room = p->blocks ? 2 * p->blocks->room : FIRST_BYTES;
	struct apitrace_pool_block *b;

	if (room > BLOCK_BYTES_MAX)
		room = BLOCK_BYTES_MAX;
	if (room < size)
		room = size;
	b = malloc(sizeof(*b) + room);
	if (!b)
		return NULL;
	b->room = room;
	b->used = 0;
	b->next = p->blocks;
	p->blocks = b;
	p->bytes += sizeof(*b) + room;
	return b;
}

void *apitrace_pool_get(struct apitrace_pool *p, size_t size)
{
	struct apitrace_pool_block *b = p->blocks;
	void *got;

	if (size > PTRDIFF_MAX / 2)
		return NULL;
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (!b || size > b->room - b->used)
		b = apitrace_pool_grow(p, size);
	if (!b)
		return NULL;
	got = b->data + b->used;
	b->used += size;
	return memset(got, 0, size);
}
