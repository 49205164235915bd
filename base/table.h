/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A hash table from a non-zero 64-bit key to a non-NULL pointer: open addressing, linear probing,
 * grows at three quarters full. The table owns its slots, but not the values.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct table_slot {
	uint64_t key; /* 0 = free */
	void *value;
};

struct table {
	struct table_slot *slots;
	size_t n_slots; /* a power of two, or 0 */
	size_t n_used;
};

void table_deinit(struct table *t);

/* Like table_deinit(), but also frees the values with free(). */
void table_deinit_free(struct table *t);

/* Removes all keys. Keeps the memory, unless it is large. */
void table_clear(struct table *t);

/* Returns the value at KEY, or NULL. */
void *table_get(const struct table *t, uint64_t key);

/*
 * Sets the value of KEY (non-zero). Replacing a previous value needs no memory. Returns 0 or
 * -ENOMEM.
 */
int table_set(struct table *t, uint64_t key, void *value);

/*
 * Returns the value at KEY. If there is none, allocates SIZE zeroed bytes, which
 * table_deinit_free() frees, as the value. Returns NULL if there is no memory.
 */
void *table_make(struct table *t, uint64_t key, size_t size);

/*
 * Sets a copy of the SIZE bytes at P as the value of KEY. A previous value is freed. Returns the
 * copy, or NULL if there is no memory.
 */
void *table_copy(struct table *t, uint64_t key, const void *p, size_t size);

/* Removes KEY and returns its value, or NULL. */
void *table_remove(struct table *t, uint64_t key);

/*
 * Returns the next value, in no particular order, or NULL after the last one. *POS starts at 0. Do
 * not add or remove keys meanwhile.
 */
void *table_next(const struct table *t, size_t *pos);

/*
 * During an iteration by table_next(), removes and returns the last value that the iteration has
 * returned. The iteration can then return other values twice.
 */
void *table_remove_last(struct table *t, size_t *pos);

/*
 * Returns an array of all values, sorted by ORDER (of pointers, base/array.h), and stores their
 * number. The caller frees the array. Returns NULL if there is no memory.
 */
void **table_sorted(const struct table *t, int (*order)(const void *, const void *), size_t *ret_n);

/*
 * Returns a well-mixed 64-bit hash of N bytes, never 0. The hash is a key for tables of strings.
 * Different strings can have the same hash, so callers compare the bytes, too. Ids in archives are
 * such hashes, so the results never change.
 */
uint64_t table_hash(const void *p, size_t n);

/*
 * Like table_hash(), but faster, and with a different result for each SEED. If the seed is secret,
 * nobody can construct collisions, and accidental ones are practically impossible: bytes need not
 * be compared.
 */
uint64_t table_hash_seeded(uint64_t seed, const void *p, size_t n);
