/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The map is a treap: a search tree by address that is also a heap by random priorities. So the
 * tree stays balanced in whichever order buffers are added.
 */
#include "reader/tracedb/tracedb-map.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void tracedb_map_deinit(struct tracedb_map *m)
{
	free(m->regions);
	*m = (struct tracedb_map){ 0 };
}

/* Splits the tree AT into the regions that begin before ADDRESS, and all other regions. */
static void tracedb_map_split(struct tracedb_map *m, uint32_t at, uint64_t address,
			      uint32_t *ret_before, uint32_t *ret_rest)
{
	while (at != 0) {
		struct tracedb_region *region = &m->regions[at];

		if (region->address < address) {
			*ret_before = at;
			ret_before = &region->right;
			at = region->right;
		} else {
			*ret_rest = at;
			ret_rest = &region->left;
			at = region->left;
		}
	}
	*ret_before = 0;
	*ret_rest = 0;
}

/* Joins two trees. All of BEFORE precedes all of REST. */
static void tracedb_map_join(struct tracedb_map *m, uint32_t before, uint32_t rest, uint32_t *ret)
{
	while (before != 0 && rest != 0) {
		if (m->regions[before].priority > m->regions[rest].priority) {
			*ret = before;
			ret = &m->regions[before].right;
			before = *ret;
		} else {
			*ret = rest;
			ret = &m->regions[rest].left;
			rest = *ret;
		}
	}
	*ret = before ? before : rest;
}

/* Returns the link in the search tree to the region at ADDRESS. If there is no such region, it is
 * the link (with the value 0) to which its number must be written. */
static uint32_t *tracedb_map_place(struct tracedb_map *m, uint64_t address)
{
	uint32_t *place = &m->root;

	while (*place != 0 && m->regions[*place].address != address) {
		struct tracedb_region *region = &m->regions[*place];

		place = address < region->address ? &region->left : &region->right;
	}
	return place;
}

static int tracedb_map_allocate(struct tracedb_map *m, uint32_t *ret)
{
	if (m->unused != 0) {
		*ret = m->unused;
		m->unused = m->regions[m->unused].left;
		return 0;
	}
	if (m->n_regions == 0)
		m->n_regions = 1;
	if (GROW(m->regions, m->room, (size_t)m->n_regions + 1) < 0)
		return -ENOMEM;
	*ret = m->n_regions++;
	return 0;
}

/*
 * Random priorities (xorshift) that do not depend on the addresses. The seed is the address of the
 * map, so no file can predict the priorities and unbalance the tree.
 */
static uint32_t tracedb_map_random(struct tracedb_map *m)
{
	uint32_t x = m->random ? m->random : (uint32_t)((uintptr_t)m >> 4) | 1;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return m->random = x;
}

static int tracedb_map_add(struct tracedb_map *m, uint64_t address, uint64_t size)
{
	uint32_t new, before, rest;

	if (tracedb_map_allocate(m, &new) < 0)
		return -ENOMEM;
	m->regions[new] = (struct tracedb_region){
		.address = address,
		.size = size,
		.priority = tracedb_map_random(m),
	};
	tracedb_map_split(m, m->root, address, &before, &rest);
	tracedb_map_join(m, before, new, &before);
	tracedb_map_join(m, before, rest, &m->root);
	return 0;
}

int tracedb_map_set(struct tracedb_map *m, uint64_t address, uint64_t size)
{
	uint32_t *place = tracedb_map_place(m, address);
	uint32_t at = *place;

	m->last = (struct tracedb_map_last){ 0 };
	if (at == 0)
		return size > 0 ? tracedb_map_add(m, address, size) : 0;
	if (size > 0) {
		m->regions[at].size = size;
		return 0;
	}
	tracedb_map_join(m, m->regions[at].left, m->regions[at].right, place);
	m->regions[at].left = m->unused;
	m->unused = at;
	return 0;
}

/* Finds the last region that begins at or before ADDRESS, and the range of all addresses for which
 * this is the result. Both are stored in m->last. */
static void tracedb_map_find(struct tracedb_map *m, uint64_t address)
{
	uint64_t first = 0, next = UINT64_MAX;
	uint32_t at = m->root, region = 0;

	while (at != 0) {
		if (m->regions[at].address <= address) {
			region = at;
			first = m->regions[at].address;
			at = m->regions[at].right;
		} else {
			next = m->regions[at].address - 1;
			at = m->regions[at].left;
		}
	}
	m->last = (struct tracedb_map_last){ first, next, region, true };
}

/* Returns the last region that begins at or before ADDRESS, or NULL. */
static const struct tracedb_region *tracedb_map_region(struct tracedb_map *m, uint64_t address)
{
	if (!m->last.known || address < m->last.first || address > m->last.end)
		tracedb_map_find(m, address);
	return m->last.region ? &m->regions[m->last.region] : NULL;
}

bool tracedb_map_start(struct tracedb_map *m, uint64_t address, uint64_t *ret)
{
	const struct tracedb_region *region = tracedb_map_region(m, address);

	*ret = region ? region->address : 0;
	return region != NULL;
}

uint64_t tracedb_map_size(struct tracedb_map *m, uint64_t address)
{
	const struct tracedb_region *region = tracedb_map_region(m, address);

	if (!region)
		return TRACEDB_NO_SIZE;
	if (address - region->address > region->size)
		return TRACEDB_NO_SIZE;
	return region->size - (address - region->address);
}
