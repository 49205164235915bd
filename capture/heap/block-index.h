/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fast lookup from an address to its block, for each word of a process's memory.
 *
 * Blocks are close together in a few regions. The table of a region has, for each page of the
 * region, the first block that extends into this page. A short search starts at that block.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct block_range {
	uint64_t address, size; /* bytes; an empty block counts as one byte */
};

struct block_region {
	uint64_t from, to; /* addresses */
	size_t first_page; /* index in `pages` of the region's first page */
	size_t end_block;  /* index of the block after the region's last one */
};

struct block_index {
	const struct block_range *blocks; /* borrowed */
	size_t n_blocks;
	uint64_t from, bytes;         /* the range of all blocks */
	struct block_region *regions; /* owned */
	size_t n_regions;
	uint32_t *pages; /* the first block that ends after the page's beginning; owned */
};

#define BLOCK_NONE SIZE_MAX

/*
 * Builds the index of N BLOCKS (borrowed, at most UINT32_MAX), sorted by address, without overlaps.
 * Returns 0, -EINVAL if they are not in order, or -ENOMEM.
 */
int block_index_init(struct block_index *x, const struct block_range *blocks, size_t n);
void block_index_deinit(struct block_index *x);

/* Returns the index of the first block that ends after ADDRESS; n_blocks if all end before it. */
size_t block_index_from(const struct block_index *x, uint64_t address);

/*
 * Returns the index of the block that contains ADDRESS, or BLOCK_NONE. ADDRESS must be between the
 * first and the last block.
 */
size_t block_index_search(const struct block_index *x, uint64_t address);

static inline uint64_t block_end(const struct block_range *b)
{
	return b->address + (b->size ? b->size : 1);
}

/* Returns the block that contains ADDRESS, or BLOCK_NONE. Most words are in no block. */
static inline size_t block_index_find(const struct block_index *x, uint64_t address)
{
	return address - x->from < x->bytes ? block_index_search(x, address) : BLOCK_NONE;
}
