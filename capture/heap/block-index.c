/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/block-index.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

enum {
	PAGE_SHIFT = 12,
	GAP_PAGES = 4, /* a gap between two blocks that is larger than this begins a new region */
};

static uint64_t block_index_page_of(uint64_t address)
{
	return address >> PAGE_SHIFT;
}

static bool block_index_begins_region(const struct block_range *blocks, size_t i)
{
	return i == 0 || block_index_page_of(blocks[i].address) >
				 block_index_page_of(block_end(&blocks[i - 1]) - 1) + GAP_PAGES;
}

/* Counts the regions and their pages. */
static int block_index_measure(const struct block_range *blocks, size_t n, size_t *ret_regions,
			       size_t *ret_pages)
{
	size_t n_regions = 0, n_pages = 0;
	uint64_t first = 0;

	for (size_t i = 0; i < n; i++) {
		if (block_end(&blocks[i]) <= blocks[i].address ||
		    (i > 0 && blocks[i].address < block_end(&blocks[i - 1])))
			return -EINVAL;
		if (block_index_begins_region(blocks, i)) {
			n_regions++;
			first = block_index_page_of(blocks[i].address);
		}
		if (i + 1 == n || block_index_begins_region(blocks, i + 1))
			n_pages += block_index_page_of(block_end(&blocks[i]) - 1) - first + 1;
	}
	*ret_regions = n_regions;
	*ret_pages = n_pages;
	return 0;
}

static void block_index_fill(struct block_index *x)
{
	struct block_region *region = x->regions;
	size_t used = 0; /* pages */

	for (size_t i = 0; i < x->n_blocks; i++) {
		uint64_t end = block_end(&x->blocks[i]), page, last;

		if (block_index_begins_region(x->blocks, i)) {
			region = i == 0 ? x->regions : region + 1;
			region->from = block_index_page_of(x->blocks[i].address) << PAGE_SHIFT;
			region->first_page = used;
		}
		region->to = end;
		region->end_block = i + 1;
		/* Pages that no earlier block reaches, up to the end of this block. */
		page = block_index_page_of(region->from) + (used - region->first_page);
		last = block_index_page_of(end - 1);
		for (; page <= last; page++)
			x->pages[used++] = (uint32_t)i;
	}
}

int block_index_init(struct block_index *x, const struct block_range *blocks, size_t n)
{
	size_t n_regions, n_pages;
	int r = n > UINT32_MAX ? -EINVAL : block_index_measure(blocks, n, &n_regions, &n_pages);

	if (r < 0)
		return r;
	*x = (struct block_index){ .blocks = blocks, .n_blocks = n, .n_regions = n_regions };
	if (n == 0)
		return 0;
	x->regions = calloc(n_regions, sizeof(*x->regions));
	x->pages = calloc(n_pages, sizeof(*x->pages));
	if (!x->regions || !x->pages) {
		block_index_deinit(x);
		return -ENOMEM;
	}
	x->from = blocks[0].address;
	x->bytes = block_end(&blocks[n - 1]) - x->from;
	block_index_fill(x);
	return 0;
}

void block_index_deinit(struct block_index *x)
{
	free(x->regions);
	free(x->pages);
	*x = (struct block_index){ 0 };
}

size_t block_index_from(const struct block_index *x, uint64_t address)
{
	return ARRAY_FIRST(i, 0, x->n_blocks, block_end(&x->blocks[i]) > address);
}

/* Returns the region that contains ADDRESS, or NULL. */
static const struct block_region *block_index_region_of(const struct block_index *x,
							uint64_t address)
{
	size_t at = ARRAY_FIRST(i, 0, x->n_regions, x->regions[i].to > address);

	return at < x->n_regions && x->regions[at].from <= address ? &x->regions[at] : NULL;
}

size_t block_index_search(const struct block_index *x, uint64_t address)
{
	const struct block_region *region = block_index_region_of(x, address);
	size_t low, high, page;

	if (!region)
		return BLOCK_NONE;
	page = block_index_page_of(address) - block_index_page_of(region->from);
	low = x->pages[region->first_page + page];
	high = region->end_block;
	if (block_index_page_of(address) < block_index_page_of(region->to - 1))
		high = x->pages[region->first_page + page + 1] + (size_t)1;
	low = ARRAY_FIRST(i, low, high, block_end(&x->blocks[i]) > address);
	return low < x->n_blocks && x->blocks[low].address <= address ? low : BLOCK_NONE;
}
