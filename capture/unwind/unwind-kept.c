/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-kept.h"

#include <fcntl.h>
#include <stdbool.h>

#include <bpf/bpf.h>

#include "base/cleanup.h"

void unwind_kept_init(struct unwind_kept *k)
{
	pthread_mutex_init(&k->lock, NULL);
	k->next = 0;
	k->files = NULL;
	for (size_t i = 0; i < UNWIND_KEPT_MAX; i++)
		k->tables[i].fd = -1;
}

void unwind_kept_deinit(struct unwind_kept *k)
{
	for (size_t i = 0; i < UNWIND_KEPT_MAX; i++)
		close_fd(k->tables[i].fd);
	pthread_mutex_destroy(&k->lock);
}

/* Called with the lock. */
static struct unwind_kept_table *unwind_kept_get(struct unwind_kept *k, uint32_t number)
{
	for (size_t i = 0; i < UNWIND_KEPT_MAX; i++)
		if (k->tables[i].fd >= 0 && k->tables[i].number == number)
			return &k->tables[i];
	return NULL;
}

void unwind_kept_put(struct unwind_kept *k, uint32_t number, const struct unwind_file *file,
		     int blocks_fd)
{
	int fd = fcntl(blocks_fd, F_DUPFD_CLOEXEC, 3);
	struct unwind_kept_table *table;

	if (fd < 0)
		return;
	pthread_mutex_lock(&k->lock);
	table = unwind_kept_get(k, number);
	if (!table)
		table = &k->tables[k->next++ % UNWIND_KEPT_MAX];
	close_fd(table->fd);
	*table = (struct unwind_kept_table){ fd, number, *file };
	pthread_mutex_unlock(&k->lock);
}

void unwind_kept_remove(struct unwind_kept *k, uint32_t number)
{
	struct unwind_kept_table *table;

	pthread_mutex_lock(&k->lock);
	table = unwind_kept_get(k, number);
	if (table) {
		close_fd(table->fd);
		table->fd = -1;
	}
	pthread_mutex_unlock(&k->lock);
}

/* ---- search ---- */

/* Returns the index of the last of N rows (or slots of a root) that begins at or below ADDRESS. */
static uint32_t unwind_kept_search(uint32_t n, uint32_t address,
				   uint32_t (*begin)(const void *data, uint32_t i),
				   const void *data)
{
	uint32_t at = 0, end = n;

	while (end - at > 1) {
		uint32_t middle = at + (end - at) / 2;

		if (begin(data, middle) <= address)
			at = middle;
		else
			end = middle;
	}
	return at;
}

static uint32_t unwind_kept_slot_begin(const void *data, uint32_t i)
{
	return ((const struct unwind_root *)data)->first[i];
}

static uint32_t unwind_kept_row_begin(const void *data, uint32_t i)
{
	return ((const struct unwind_block *)data)->rows[i].address;
}

/*
 * Searches like the eBPF programs: first the root, then the first rows of a group of blocks, then
 * the block.
 */
static uint32_t unwind_kept_search_table(int fd, uint32_t address)
{
	union {
		struct unwind_root root;
		struct unwind_block block;
	} element;
	uint32_t key = 0, at, n_blocks, in_group;

	if (bpf_map_lookup_elem(fd, &key, &element) < 0 || element.root.first[0] > address ||
	    element.root.shift > UNWIND_SHIFT_MAX)
		return UNWIND_NONE;
	n_blocks = element.root.n_blocks;
	in_group = UINT32_C(1) << element.root.shift;
	at = unwind_kept_search(UNWIND_ROOT_SLOTS, address, unwind_kept_slot_begin, &element.root)
	     << element.root.shift;
	for (uint32_t last = at + in_group; at + 1 < last && at + 1 < n_blocks; at++) {
		key = at + 2;
		if (bpf_map_lookup_elem(fd, &key, &element) < 0 ||
		    element.block.rows[0].address > address)
			break;
	}
	key = at + 1;
	if (bpf_map_lookup_elem(fd, &key, &element) < 0)
		return UNWIND_NONE;
	at = unwind_kept_search(UNWIND_BLOCK_ROWS, address, unwind_kept_row_begin, &element.block);
	return element.block.rows[at].rule;
}

static uint32_t unwind_kept_find_in(const struct unwind_kept_table *table, uint64_t offset)
{
	for (uint32_t i = 0; i < UNWIND_SEGMENTS_MAX; i++)
		if (offset - table->file.segments[i].offset < table->file.segments[i].size)
			return unwind_kept_search_table(
				table->fd, (uint32_t)(offset + table->file.segments[i].delta));
	return UNWIND_NONE;
}

uint32_t unwind_kept_find(struct unwind_kept *k, uint16_t number, uint16_t generation,
			  uint64_t offset)
{
	const struct unwind_kept_table *table;
	uint32_t rule = UNWIND_MISSING;

	if (number < UNWIND_FILES_MAX &&
	    __atomic_load_n(&k->files[number].state, __ATOMIC_ACQUIRE) == UNWIND_FILE_EMPTY &&
	    (uint16_t)k->files[number].generation == generation)
		return UNWIND_NONE;
	pthread_mutex_lock(&k->lock);
	table = unwind_kept_get(k, number);
	if (table && (uint16_t)table->file.generation == generation)
		rule = unwind_kept_find_in(table, offset);
	pthread_mutex_unlock(&k->lock);
	return rule;
}
