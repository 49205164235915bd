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

static int find_or_take(struct fxt_table *t, uint64_t key, uint16_t *ret_i)
{
	struct fxt_table_entry *e = table_get(&t->by_key, key);

	if (e) {
		*ret_i = (uint16_t)(e - t->entries);
		if (t->newest != *ret_i) {
			unlink_entry(t, *ret_i);
			link_newest(t, *ret_i);
		}
		return FXT_TABLE_KNOWN;
	}
	*ret_i = take_place(t, key);
	return *ret_i ? FXT_TABLE_NEW : -ENOMEM;
}

int fxt_table_string(struct fxt_table *t, const char *text, size_t n, uint16_t *ret_index)
{
	struct fxt_table_entry *e;
	uint16_t i;
	char *copy;
	int r;

	r = find_or_take(t, table_hash(text, n), &i);
	if (r < 0)
		return r;
	e = &t->entries[i];
	if (r == FXT_TABLE_NEW || e->length != n || memcmp(e->text, text, n) != 0) {
		/* New, or another text with the same hash, which then is registered anew. */
		copy = malloc(n);
		if (!copy) {
			e->length = 0; /* matches no text: will be registered next time */
			return -ENOMEM;
		}
		memcpy(copy, text, n);
		free(e->text);
		e->text = copy;
		e->length = (uint32_t)n;
		r = FXT_TABLE_NEW;
	}
	*ret_index = index_of(t, i);
	return r;
}

int fxt_table_thread(struct fxt_table *t, uint32_t pid, uint32_t tid, uint16_t *ret_index)
{
	uint16_t i;
	int r;

	/* Never 0: bit 63 is set. Koids have 32 bits, of which the top one is never used. */
	r = find_or_take(t, UINT64_C(1) << 63 | (uint64_t)pid << 32 | tid, &i);
	if (r > 0)
		*ret_index = index_of(t, i);
	return r;
}
