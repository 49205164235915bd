/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/fxt/fxt-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int fxt_table_init(struct fxt_table *t, uint16_t first, uint16_t last)
{
	*t = (struct fxt_table){ .first = first, .last = last };
	t->entries = calloc((size_t)(last - first) + 2, sizeof(*t->entries));
	return t->entries ? 0 : -ENOMEM;
}

void fxt_table_deinit(struct fxt_table *t)
{
	for (unsigned i = 1; t->entries && i <= t->n_used; i++)
		free(t->entries[i].text);
	free(t->entries);
	table_deinit(&t->by_key);
	*t = (struct fxt_table){ 0 };
}

static void unlink_entry(struct fxt_table *t, uint16_t i)
{
	struct fxt_table_entry *e = &t->entries[i];

	*(e->older ? &t->entries[e->older].newer : &t->oldest) = e->newer;
	*(e->newer ? &t->entries[e->newer].older : &t->newest) = e->older;
}

static void link_newest(struct fxt_table *t, uint16_t i)
{
	t->entries[i].newer = 0;
	t->entries[i].older = t->newest;
	*(t->newest ? &t->entries[t->newest].newer : &t->oldest) = i;
	t->newest = i;
}

static uint16_t index_of(const struct fxt_table *t, uint16_t i)
{
	return (uint16_t)(t->first + i - 1);
}

/* A place for a new KEY: a fresh one, or that of the entry used least recently. 0 = no memory. */
static uint16_t take_place(struct fxt_table *t, uint64_t key)
{
	uint16_t i;

	if (t->n_used < t->last - t->first + 1) {
		i = (uint16_t)(t->n_used + 1);
		if (table_set(&t->by_key, key, &t->entries[i]) < 0)
			return 0;
		t->n_used++;
	} else {
		i = t->oldest;
		/* The key goes in first: when that fails, the table is as it was. */
		if (table_set(&t->by_key, key, &t->entries[i]) < 0)
			return 0;
		table_remove(&t->by_key, t->entries[i].key);
		unlink_entry(t, i);
	}
	t->entries[i].key = key;
	link_newest(t, i);
	return i;
}

/*
 * Finds the N bytes at TEXT, whose key is KEY or, if that is another text's, one that follows it. When
 * the first of such texts gives up its place the others are not found any more: they are registered
 * anew.
 */
static int find_or_take(struct fxt_table *t, uint64_t key, const void *text, size_t n,
			uint16_t *ret_index)
{
	struct fxt_table_entry *e;
	char *copy;
	uint16_t i;

	for (; (e = table_get(&t->by_key, key)); key = key + 1 ? key + 1 : 1) {
		if (e->length != n || memcmp(e->text, text, n) != 0)
			continue;
		i = (uint16_t)(e - t->entries);
		if (t->newest != i) {
			unlink_entry(t, i);
			link_newest(t, i);
		}
		*ret_index = index_of(t, i);
		return FXT_TABLE_KNOWN;
	}
	copy = malloc(n);
	if (!copy)
		return -ENOMEM;
	i = take_place(t, key);
	if (i == 0) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, text, n);
	free(t->entries[i].text);
	t->entries[i].text = copy;
	t->entries[i].length = (uint32_t)n;
	*ret_index = index_of(t, i);
	return FXT_TABLE_NEW;
}

int fxt_table_string(struct fxt_table *t, const char *text, size_t n, uint16_t *ret_index)
{
	return find_or_take(t, table_hash(text, n), text, n, ret_index);
}

int fxt_table_thread(struct fxt_table *t, uint64_t pid, uint64_t tid, uint16_t *ret_index)
{
	const uint64_t both[] = { pid, tid };
	/* Never 0, and one thread's alone as long as koids are those of Linux. */
	uint64_t key = UINT64_C(1) << 63 | (pid << 32 ^ tid);

	return find_or_take(t, key, both, sizeof(both), ret_index);
}
