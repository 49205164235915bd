/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/fxt/fxt-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The initial number of entries. Tables grow on demand: most archives have a few hundred
 * strings. */
enum { FIRST_ENTRIES = 64 };

/* Makes room for N entries, and for entry 0, which is unused. Returns 0 or -ENOMEM. */
static int fxt_table_make_room(struct fxt_table *t, size_t n)
{
	size_t all = (size_t)(t->last - t->first) + 2, room = t->n_entries ?: FIRST_ENTRIES;
	struct fxt_table_entry *entries;

	if (n + 1 <= t->n_entries)
		return 0;
	while (room < n + 1)
		room *= 2;
	if (room > all)
		room = all;
	entries = realloc(t->entries, room * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	memset(entries + t->n_entries, 0, (room - t->n_entries) * sizeof(*entries));
	t->entries = entries;
	t->n_entries = room;
	return 0;
}

int fxt_table_init(struct fxt_table *t, uint16_t first, uint16_t last)
{
	*t = (struct fxt_table){ .first = first, .last = last };
	return fxt_table_make_room(t, 1);
}

void fxt_table_deinit(struct fxt_table *t)
{
	for (unsigned i = 1; t->entries && i <= t->n_used; i++)
		free(t->entries[i].text);
	free(t->entries);
	table_deinit(&t->by_key);
	*t = (struct fxt_table){ 0 };
}

static void fxt_table_unlink_entry(struct fxt_table *t, uint16_t i)
{
	struct fxt_table_entry *e = &t->entries[i];

	*(e->older ? &t->entries[e->older].newer : &t->oldest) = e->newer;
	*(e->newer ? &t->entries[e->newer].older : &t->newest) = e->older;
}

static void fxt_table_link_newest(struct fxt_table *t, uint16_t i)
{
	t->entries[i].newer = 0;
	t->entries[i].older = t->newest;
	*(t->newest ? &t->entries[t->newest].newer : &t->oldest) = i;
	t->newest = i;
}

static uint16_t fxt_table_index_of(const struct fxt_table *t, uint16_t i)
{
	return (uint16_t)(t->first + i - 1);
}

/* Sets the entry of KEY to I. (by_key has indices, not pointers, since entries move when they
 * grow.) */
static int fxt_table_set_key(struct fxt_table *t, uint64_t key, uint16_t i)
{
	return table_set(&t->by_key, key, (void *)(uintptr_t)i);
}

/*
 * Allocates an entry for KEY, which is new: an unused entry, or else the least recently used one.
 * Returns its index; 0 = no memory.
 */
static uint16_t fxt_table_allocate(struct fxt_table *t, uint64_t key)
{
	uint16_t i;

	if (t->n_used < t->last - t->first + 1) {
		i = (uint16_t)(t->n_used + 1);
		if (fxt_table_make_room(t, i) < 0 || fxt_table_set_key(t, key, i) < 0)
			return 0;
		t->n_used++;
	} else {
		i = t->oldest;
		/* Set the new key first: if this fails, the table is unchanged. */
		if (fxt_table_set_key(t, key, i) < 0)
			return 0;
		table_remove(&t->by_key, t->entries[i].key);
		fxt_table_unlink_entry(t, i);
	}
	t->entries[i].key = key;
	fxt_table_link_newest(t, i);
	return i;
}

/*
 * Finds or adds the N bytes at TEXT under KEY, or under the next keys if other texts have KEY. If
 * the first of these texts is replaced later, the others are no longer found, and are registered
 * again.
 */
static int fxt_table_find_or_add(struct fxt_table *t, uint64_t key, const void *text, size_t n,
				 uint16_t *ret_index)
{
	char *copy;
	uint16_t i;

	for (; (i = (uint16_t)(uintptr_t)table_get(&t->by_key, key)); key = key + 1 ? key + 1 : 1) {
		const struct fxt_table_entry *e = &t->entries[i];

		if (e->length != n || memcmp(e->text, text, n) != 0)
			continue;
		if (t->newest != i) {
			fxt_table_unlink_entry(t, i);
			fxt_table_link_newest(t, i);
		}
		*ret_index = fxt_table_index_of(t, i);
		return FXT_TABLE_KNOWN;
	}
	copy = malloc(n);
	if (!copy)
		return -ENOMEM;
	i = fxt_table_allocate(t, key);
	if (i == 0) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, text, n);
	free(t->entries[i].text);
	t->entries[i].text = copy;
	t->entries[i].length = (uint32_t)n;
	*ret_index = fxt_table_index_of(t, i);
	return FXT_TABLE_NEW;
}

int fxt_table_string(struct fxt_table *t, const char *text, size_t n, uint16_t *ret_index)
{
	return fxt_table_find_or_add(t, table_hash(text, n), text, n, ret_index);
}

int fxt_table_thread(struct fxt_table *t, uint64_t pid, uint64_t tid, uint16_t *ret_index)
{
	const uint64_t both[] = { pid, tid };
	/* (the key is not 0, and differs for all threads with koids of Linux) */
	uint64_t key = UINT64_C(1) << 63 | (pid << 32 ^ tid);

	return fxt_table_find_or_add(t, key, both, sizeof(both), ret_index);
}
