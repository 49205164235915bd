/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file under test is compiled in here, with a hash that tests can force: two texts that begin
 * with '=' collide.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "tests/support/unit.h"

static uint64_t forced_hash(const void *p, size_t n)
{
	return n > 0 && *(const char *)p == '=' ? 4711 : table_hash(p, n);
}

#define table_hash forced_hash
#include "writer/fxt/fxt-table.c"
#undef table_hash

/* "new 3", "known 3": the result of a look-up. */
static const char *ask(struct fxt_table *t, const char *text)
{
	static char answer[32];
	uint16_t index = 0xffff;
	int r = fxt_table_string(t, text, strlen(text), &index);

	snprintf(answer, sizeof(answer), "%s %u",
		 r == FXT_TABLE_NEW     ? "new"
		 : r == FXT_TABLE_KNOWN ? "known"
					: "error",
		 index);
	return answer;
}

struct row {
	const char *text, *answer;
};

static void assert_answers(struct fxt_table *t, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_string_equal(ask(t, rows[i].text), rows[i].answer);
}

TEST(test_string)
{
	static const struct row rows[] = {
		{ "a", "new 10" },   { "b", "new 11" }, { "a", "known 10" },  { "aa", "new 12" },
		{ "b", "known 11" }, { "A", "new 13" }, { "aa", "known 12" },
	};
	_cleanup_(fxt_table_deinit) struct fxt_table t;
	uint16_t index;

	assert_int_equal(fxt_table_init(&t, 10, 100), 0);
	assert_answers(&t, rows, ARRAY_SIZE(rows));
	/* Bytes, not text: no NUL ends it. */
	assert_int_equal(fxt_table_string(&t, "a\0x", 3, &index), FXT_TABLE_NEW);
	assert_int_equal(fxt_table_string(&t, "a\0y", 3, &index), FXT_TABLE_NEW);
	assert_int_equal(fxt_table_string(&t, "a\0x", 3, &index), FXT_TABLE_KNOWN);
	assert_int_equal(index, 14);
}

/* When all are in use, the least recently used one gets a new text. */
TEST(test_string_full)
{
	static const struct row rows[] = {
		{ "a", "new 5" },   { "b", "new 6" },   { "c", "new 7" },
		{ "a", "known 5" },                     /* b is the oldest now */
		{ "d", "new 6" },                       /* c, a, d */
		{ "b", "new 7" },                       /* a, d, b */
		{ "d", "known 6" }, { "a", "known 5" }, /* b, d, a */
		{ "c", "new 7" },   { "e", "new 6" },   /* a, c, e */
		{ "a", "known 5" }, { "c", "known 7" }, { "e", "known 6" },
	};
	_cleanup_(fxt_table_deinit) struct fxt_table t;

	assert_int_equal(fxt_table_init(&t, 5, 7), 0);
	assert_answers(&t, rows, ARRAY_SIZE(rows));
}

TEST(test_string_single_place)
{
	static const struct row rows[] = {
		{ "a", "new 1" },
		{ "a", "known 1" },
		{ "b", "new 1" },
		{ "a", "new 1" },
	};
	_cleanup_(fxt_table_deinit) struct fxt_table t;

	assert_int_equal(fxt_table_init(&t, 1, 1), 0);
	assert_answers(&t, rows, ARRAY_SIZE(rows));
}

/* Texts with the same hash have their own places: a record can refer to both. */
TEST(test_string_collision)
{
	static const struct row rows[] = {
		{ "=one", "new 1" },   { "=one", "known 1" },      { "=two", "new 2" },
		{ "=two", "known 2" }, { "=one", "known 1" },      { "other", "new 3" },
		{ "=two", "known 2" }, { "=oneandmore", "new 4" }, { "other", "known 3" },
	};
	_cleanup_(fxt_table_deinit) struct fxt_table t;

	assert_int_equal(fxt_table_init(&t, 1, 100), 0);
	assert_answers(&t, rows, ARRAY_SIZE(rows));
}

/* The first of them loses its place, and those after it are registered again. */
TEST(test_string_collision_full)
{
	static const struct row rows[] = {
		{ "=one", "new 1" },   { "=two", "new 2" },   { "other", "new 1" },
		{ "=two", "new 2" },   { "=two", "known 2" }, { "=one", "new 1" },
		{ "=two", "known 2" }, { "other", "new 1" },
	};
	_cleanup_(fxt_table_deinit) struct fxt_table t;

	assert_int_equal(fxt_table_init(&t, 1, 2), 0);
	assert_answers(&t, rows, ARRAY_SIZE(rows));
}

/* Compared with a list in the order of use. */
TEST(test_string_random)
{
	enum { PLACES = 37, TEXTS = 80 };
	_cleanup_(fxt_table_deinit) struct fxt_table t;
	unsigned list[PLACES], index_of_text[TEXTS] = { 0 }, n = 0;
	uint64_t random = 88172645463325252;

	assert_int_equal(fxt_table_init(&t, 256, 256 + PLACES - 1), 0);
	for (unsigned step = 0; step < 50000; step++) {
		unsigned which, at;
		uint16_t index;
		char text[8];
		int r;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		which = (unsigned)(random % TEXTS);
		snprintf(text, sizeof(text), "t%u", which);
		r = fxt_table_string(&t, text, strlen(text), &index);
		for (at = 0; at < n && list[at] != which; at++)
			;
		if (at < n) {
			assert_int_equal(r, FXT_TABLE_KNOWN);
			assert_int_equal(index, index_of_text[which]);
		} else {
			assert_int_equal(r, FXT_TABLE_NEW);
			if (n < PLACES) {
				assert_int_equal(index, 256 + n);
				at = n++;
			} else {
				at = 0;
				assert_int_equal(index, index_of_text[list[0]]);
			}
			index_of_text[which] = index;
		}
		memmove(&list[at], &list[at + 1], (n - 1 - at) * sizeof(*list));
		list[n - 1] = which;
	}
}

TEST(test_thread)
{
	static const struct {
		uint64_t pid, tid;
		int r;
		uint16_t index;
	} rows[] = {
		{ 0, 0, FXT_TABLE_NEW, 1 },
		{ 1, 2, FXT_TABLE_NEW, 2 },
		{ 2, 1, FXT_TABLE_NEW, 3 },
		{ 1, 2, FXT_TABLE_KNOWN, 2 },
		{ UINT64_MAX, UINT64_MAX, FXT_TABLE_NEW, 1 }, /* 0/0 was used least recently */
		{ 2, 1, FXT_TABLE_KNOWN, 3 },
		{ 0, 0, FXT_TABLE_NEW, 2 },
	};
	_cleanup_(fxt_table_deinit) struct fxt_table t;

	assert_int_equal(fxt_table_init(&t, 1, 3), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint16_t index = 0;

		assert_int_equal(fxt_table_thread(&t, rows[i].pid, rows[i].tid, &index), rows[i].r);
		assert_int_equal(index, rows[i].index);
	}
}

/* Koids that are equal in the part that Linux uses. */
TEST(test_thread_wide)
{
	_cleanup_(fxt_table_deinit) struct fxt_table t;
	static const uint64_t pids[] = { 0, UINT64_C(1) << 32, UINT64_C(1) << 63 };
	uint16_t index = 0;

	assert_int_equal(fxt_table_init(&t, 1, 255), 0);
	for (uint16_t i = 0; i < ARRAY_SIZE(pids); i++) {
		assert_int_equal(fxt_table_thread(&t, pids[i], 5, &index), FXT_TABLE_NEW);
		assert_int_equal(index, i + 1);
	}
	for (uint16_t i = 0; i < ARRAY_SIZE(pids); i++) {
		assert_int_equal(fxt_table_thread(&t, pids[i], 5, &index), FXT_TABLE_KNOWN);
		assert_int_equal(index, i + 1);
	}
}

TEST(test_deinit)
{
	struct fxt_table t = { 0 };

	fxt_table_deinit(&t);
	assert_int_equal(fxt_table_init(&t, 1, 0x7fff), 0);
	assert_string_equal(ask(&t, "a"), "new 1");
	fxt_table_deinit(&t);
	fxt_table_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_string),
		cmocka_unit_test(test_string_full),
		cmocka_unit_test(test_string_single_place),
		cmocka_unit_test(test_string_collision),
		cmocka_unit_test(test_string_collision_full),
		cmocka_unit_test(test_string_random),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_thread_wide),
		cmocka_unit_test(test_deinit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
