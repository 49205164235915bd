/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { FIRST_SLOTS = 64, CLEAR_SLOTS_MAX = 1 << 17 };

static uint64_t table_mix(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ (x >> 33);
}

void table_deinit(struct table *t)
{
	free(t->slots);
	*t = (struct table){ 0 };
}

void table_deinit_free(struct table *t)
{
	for (size_t i = 0; i < t->n_slots; i++)
		free(t->slots[i].value);
	table_deinit(t);
}

void table_clear(struct table *t)
{
	if (t->n_slots > CLEAR_SLOTS_MAX) {
		table_deinit(t);
		return;
	}
	if (t->n_used > 0)
		memset(t->slots, 0, t->n_slots * sizeof(*t->slots));
	t->n_used = 0;
}

/* Returns the slot of KEY, or else the free slot where it belongs. */
static struct table_slot *table_find(const struct table *t, uint64_t key)
{
	size_t mask = t->n_slots - 1;

	for (size_t i = table_mix(key) & mask;; i = (i + 1) & mask)
		if (t->slots[i].key == key || t->slots[i].key == 0)
			return &t->slots[i];
}

void *table_get(const struct table *t, uint64_t key)
{
	return t->n_slots == 0 || key == 0 ? NULL : table_find(t, key)->value;
}

static int table_grow(struct table *t)
{
	struct table bigger = { .n_slots = t->n_slots ? 2 * t->n_slots : FIRST_SLOTS };

	bigger.slots = calloc(bigger.n_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_slots; i++)
		if (t->slots[i].key != 0)
			*table_find(&bigger, t->slots[i].key) = t->slots[i];
	bigger.n_used = t->n_used;
	free(t->slots);
	*t = bigger;
	return 0;
}

int table_set(struct table *t, uint64_t key, void *value)
{
	struct table_slot *slot;
	int r;

	assert(key != 0 && value);
	slot = t->n_slots ? table_find(t, key) : NULL;
	if ((!slot || slot->key == 0) && 4 * (t->n_used + 1) > 3 * t->n_slots) {
		r = table_grow(t);
		if (r < 0)
			return r;
		slot = table_find(t, key);
	}
	if (slot->key == 0)
		t->n_used++;
	*slot = (struct table_slot){ .key = key, .value = value };
	return 0;
}

void *table_make(struct table *t, uint64_t key, size_t size)
{
	void *value = table_get(t, key);

	if (value)
		return value;
	value = calloc(1, size);
	if (value && table_set(t, key, value) < 0) {
		free(value);
		return NULL;
	}
	return value;
}

void *table_copy(struct table *t, uint64_t key, const void *p, size_t size)
{
	void *before = table_get(t, key), *copy = malloc(size);

	if (!copy || table_set(t, key, copy) < 0) {
		free(copy);
		return NULL;
	}
	memcpy(copy, p, size);
	free(before);
	return copy;
}

void *table_remove(struct table *t, uint64_t key)
{
	struct table_slot *hole;
	size_t mask = t->n_slots - 1, i;
	void *value;

	if (t->n_slots == 0 || key == 0)
		return NULL;
	hole = table_find(t, key);
	if (hole->key == 0)
		return NULL;
	value = hole->value;
	t->n_used--;

	/*
	 * Close the gap, since searches end at a gap: move each later entry into it whose search
	 * begins at or before the gap. The old slot of the entry is then the gap.
	 */
	i = (size_t)(hole - t->slots);
	for (size_t j = (i + 1) & mask; t->slots[j].key != 0; j = (j + 1) & mask) {
		size_t home = table_mix(t->slots[j].key) & mask;

		if (((j - home) & mask) >= ((j - i) & mask)) {
			t->slots[i] = t->slots[j];
			i = j;
		}
	}
	t->slots[i] = (struct table_slot){ 0 };
	return value;
}

void *table_next(const struct table *t, size_t *pos)
{
	while (*pos < t->n_slots) {
		const struct table_slot *slot = &t->slots[(*pos)++];

		if (slot->key != 0)
			return slot->value;
	}
	return NULL;
}

/*
 * (The removal moves a later entry into the gap. table_next() has not returned that entry yet,
 * unless it comes from the beginning of the slots.)
 */
void *table_remove_last(struct table *t, size_t *pos)
{
	return table_remove(t, t->slots[--*pos].key);
}

void **table_sorted(const struct table *t, int (*order)(const void *, const void *), size_t *ret_n)
{
	void **values = calloc(t->n_used + 1, sizeof(*values)), *value;
	size_t n = 0;

	for (size_t pos = 0; values && (value = table_next(t, &pos));)
		values[n++] = value;
	SORT(values, n, order);
	*ret_n = n;
	return values;
}

/* Combines both halves of the product, so that the high bits matter, too. */
static uint64_t table_fold(uint64_t h, uint64_t word)
{
	__extension__ unsigned __int128 product =
		(unsigned __int128)(h ^ word) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t table_hash_seeded(uint64_t seed, const void *p, size_t n)
{
	const uint8_t *bytes = p;
	uint64_t h = seed ^ n, word;

	/* Hashes whole words: most keys are long, and consist of ids and addresses. */
	for (; n >= sizeof(word); n -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		h = table_fold(h, word);
	}
	if (n > 0) {
		word = 0;
		memcpy(&word, bytes, n);
		h = table_fold(h, word);
	}
	h = table_mix(h);
	return h ? h : 1;
}

uint64_t table_hash(const void *p, size_t n)
{
	const uint8_t *bytes = p;
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ n;

	for (size_t i = 0; i < n; i++)
		h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
	h = table_mix(h);
	return h ? h : 1;
}
