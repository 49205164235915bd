/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "tests/support/unit.h"

static char values[4096]; /* their addresses are the values */

TEST(test_empty)
{
	struct table t = { 0 };
	size_t pos = 0;

	assert_null(table_get(&t, 1));
	assert_null(table_get(&t, 0));
	assert_null(table_remove(&t, 1));
	assert_null(table_remove(&t, 0));
	assert_null(table_next(&t, &pos));
	table_deinit(&t);
}

TEST(test_set)
{
	_cleanup_(table_deinit) struct table t = { 0 };

	assert_int_equal(table_set(&t, 1, &values[1]), 0);
	assert_int_equal(table_set(&t, UINT64_MAX, &values[2]), 0);
	assert_ptr_equal(table_get(&t, 1), &values[1]);
	assert_ptr_equal(table_get(&t, UINT64_MAX), &values[2]);
	assert_null(table_get(&t, 2));
	assert_null(table_get(&t, 0));
	assert_int_equal(table_set(&t, 1, &values[3]), 0);
	assert_ptr_equal(table_get(&t, 1), &values[3]);
	assert_int_equal(t.n_used, 2);
}

/* A full table grows for a new key only. */
TEST(test_replace)
{
	_cleanup_(table_deinit) struct table t = { 0 };
	size_t n_slots;

	assert_int_equal(table_set(&t, 1, &values[1]), 0);
	n_slots = t.n_slots;
	for (uint64_t key = 2; 4 * (t.n_used + 1) <= 3 * n_slots; key++)
		assert_int_equal(table_set(&t, key, &values[key]), 0);
	assert_int_equal(table_set(&t, 1, &values[0]), 0);
	assert_int_equal(t.n_slots, n_slots);
	assert_ptr_equal(table_get(&t, 1), &values[0]);
	assert_int_equal(table_set(&t, 1000, &values[2]), 0);
	assert_true(t.n_slots > n_slots);
	assert_ptr_equal(table_get(&t, 1), &values[0]);
}

TEST(test_remove)
{
	_cleanup_(table_deinit) struct table t = { 0 };

	assert_int_equal(table_set(&t, 7, &values[7]), 0);
	assert_null(table_remove(&t, 8));
	assert_ptr_equal(table_remove(&t, 7), &values[7]);
	assert_null(table_remove(&t, 7));
	assert_null(table_get(&t, 7));
	assert_int_equal(t.n_used, 0);
}

/* Compared with an array: random insertions and removals, and gaps that close over runs. */
TEST(test_random)
{
	enum { KEYS = ARRAY_SIZE(values), STEPS = 200000 };
	_cleanup_(table_deinit) struct table t = { 0 };
	bool there[KEYS] = { 0 };
	uint64_t random = 88172645463325252;
	size_t n = 0, pos = 0;
	char *value;

	for (unsigned step = 0; step < STEPS; step++) {
		/* The share of removals goes up and down, so the table grows and empties. */
		unsigned removals = step / (STEPS / 8) % 2 ? 70 : 30;
		size_t i;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		i = random % KEYS;
		if (random >> 32 & 1)
			i %= 100; /* often the same few */
		if ((random >> 40) % 100 < removals) {
			assert_ptr_equal(table_remove(&t, i + 1), there[i] ? &values[i] : NULL);
			n -= there[i];
			there[i] = false;
		} else {
			assert_int_equal(table_set(&t, i + 1, &values[i]), 0);
			n += !there[i];
			there[i] = true;
		}
		assert_int_equal(t.n_used, n);
		i = (random >> 20) % KEYS;
		assert_ptr_equal(table_get(&t, i + 1), there[i] ? &values[i] : NULL);
	}
	for (size_t i = 0; i < KEYS; i++)
		assert_ptr_equal(table_get(&t, i + 1), there[i] ? &values[i] : NULL);
	while ((value = table_next(&t, &pos))) {
		assert_true(there[value - values]);
		there[value - values] = false;
		n--;
	}
	assert_int_equal(n, 0);
	assert_null(table_next(&t, &pos));
}

/* Removals during an iteration: it returns all others, some of them perhaps twice. */
TEST(test_remove_last)
{
	enum { KEYS = 1000 };
	bool returned[KEYS + 1];
	char *value;

	for (size_t n = 1; n <= KEYS; n += n / 10 + 1) {
		_cleanup_(table_deinit) struct table t = { 0 };
		size_t n_returned = 0, n_kept = n;

		memset(returned, 0, sizeof(returned));
		for (size_t i = 1; i <= n; i++)
			assert_int_equal(table_set(&t, i, &values[i]), 0);
		for (size_t pos = 0; (value = table_next(&t, &pos));) {
			size_t i = (size_t)(value - values);

			n_returned += !returned[i];
			returned[i] = true;
			if (i % 3 == 0)
				continue;
			assert_ptr_equal(table_remove_last(&t, &pos), value);
			n_kept--;
		}
		assert_int_equal(n_returned, n);
		assert_int_equal(n_kept, n / 3);
		assert_int_equal(t.n_used, n_kept);
		for (size_t i = 1; i <= n; i++)
			assert_ptr_equal(table_get(&t, i), i % 3 == 0 ? &values[i] : NULL);
	}
}

TEST(test_deinit)
{
	struct table t = { 0 };

	assert_int_equal(table_set(&t, 1, &values[1]), 0);
	table_deinit(&t);
	assert_null(table_get(&t, 1));
	assert_int_equal(table_set(&t, 1, &values[1]), 0);
	table_deinit(&t);
	table_deinit(&t);
}

TEST(test_clear)
{
	struct table t = { 0 };
	size_t pos = 0;

	table_clear(&t);
	/* A small one, and one whose memory is freed. */
	for (uint64_t n = 10; n <= 100000; n *= 10000) {
		for (uint64_t key = 1; key <= n; key++)
			assert_int_equal(table_set(&t, key, &values[1]), 0);
		table_clear(&t);
		assert_int_equal(t.n_used, 0);
		assert_null(table_get(&t, 1));
		assert_null(table_next(&t, &pos));
		pos = 0;
	}
	assert_int_equal(table_set(&t, 1, &values[2]), 0);
	assert_ptr_equal(table_get(&t, 1), &values[2]);
	table_deinit(&t);
}

TEST(test_owned)
{
	struct table t = { 0 };
	char *first, *copy;

	first = table_make(&t, 1, 8);
	assert_memory_equal(first, "\0\0\0\0\0\0\0\0", 8);
	strcpy(first, "first");
	assert_ptr_equal(table_make(&t, 1, 8), first);
	assert_string_equal(first, "first");
	/* The old value is freed, even if the new one is copied from a part of it. */
	copy = table_copy(&t, 1, first + 2, 4);
	assert_string_equal(copy, "rst");
	assert_ptr_equal(table_get(&t, 1), copy);
	assert_non_null(table_copy(&t, 2, "second", 7));
	assert_int_equal(t.n_used, 2);
	table_deinit_free(&t);
}

/* Each bit of the bytes and of the seed matters. */
TEST(test_hash_seeded)
{
	uint64_t words[3] = { 0x7f0000001000, 0, UINT64_C(1) << 63 };
	uint64_t hash = table_hash_seeded(5, words, sizeof(words));

	assert_int_equal(table_hash_seeded(5, words, sizeof(words)), hash);
	for (unsigned bit = 0; bit < 64; bit++) {
		assert_int_not_equal(
			table_hash_seeded(5 ^ UINT64_C(1) << bit, words, sizeof(words)), hash);
		for (unsigned i = 0; i < 3; i++) {
			words[i] ^= UINT64_C(1) << bit;
			assert_int_not_equal(table_hash_seeded(5, words, sizeof(words)), hash);
			words[i] ^= UINT64_C(1) << bit;
		}
	}
}

TEST(test_hash)
{
	static const struct {
		const char *a, *b;
		size_t na, nb;
		bool same;
	} rows[] = {
		{ "abc", "abc", 3, 3, true },  { "abc", "abcd", 3, 3, true },
		{ "abc", "abd", 3, 3, false }, { "a", "a\0", 1, 2, false },
		{ "\0", "\0\0", 1, 2, false }, { "", "\0", 0, 1, false },
		{ "ab", "ba", 2, 2, false },   { "\x80", "\xff\x80", 1, 1, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t a = table_hash(rows[i].a, rows[i].na);
		uint64_t b = table_hash(rows[i].b, rows[i].nb);

		assert_int_not_equal(a, 0);
		assert_int_equal(a == b, rows[i].same);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_remove_last), cmocka_unit_test(test_empty),
		cmocka_unit_test(test_set),         cmocka_unit_test(test_remove),
		cmocka_unit_test(test_random),      cmocka_unit_test(test_deinit),
		cmocka_unit_test(test_hash),        cmocka_unit_test(test_clear),
		cmocka_unit_test(test_hash_seeded), cmocka_unit_test(test_owned),
		cmocka_unit_test(test_replace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
