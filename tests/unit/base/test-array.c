/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arrays double their size, keep their contents, and refuse impossible sizes.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "tests/support/unit.h"

TEST(test_append)
{
	_cleanup_free_ uint32_t *list = NULL;
	size_t room = 0, moves = 0;

	for (uint32_t n = 0; n < 1000; n++) {
		size_t before = room;

		assert_int_equal(GROW(list, room, n + 1), 0);
		assert_true(room > n);
		moves += room != before;
		list[n] = n;
	}
	for (uint32_t n = 0; n < 1000; n++)
		assert_int_equal(list[n], n);
	assert_true(moves <= 10);
}

TEST(test_room_is_enough)
{
	_cleanup_free_ char *list = NULL;
	char *before;
	unsigned room = 0;

	assert_int_equal(GROW(list, room, 100), 0);
	assert_int_equal(room, 100);
	before = list;
	assert_int_equal(GROW(list, room, 100), 0);
	assert_ptr_equal(list, before);
	assert_int_equal(room, 100);
	assert_int_equal(GROW(list, room, 101), 0);
	assert_int_equal(room, 200);
}

TEST(test_zero)
{
	_cleanup_free_ uint64_t *list = NULL;
	size_t room = 0;

	assert_int_equal(GROW_ZERO(list, room, 1), 0);
	list[0] = 7;
	assert_int_equal(GROW_ZERO(list, room, 300), 0);
	assert_int_equal(list[0], 7);
	for (size_t i = 1; i < room; i++)
		assert_int_equal(list[i], 0);
}

/* Impossible sizes: nothing changes. */
TEST(test_refused)
{
	_cleanup_free_ uint64_t *list = NULL;
	uint8_t small = 0;
	size_t room = 0;
	uint64_t *before;

	assert_int_equal(GROW(list, room, 10), 0);
	before = list;
	assert_int_equal(GROW(list, room, SIZE_MAX / 8 + 2), -ENOMEM); /* 8 bytes, if it wraps */
	assert_int_equal(GROW(list, room, SIZE_MAX), -ENOMEM);
	assert_int_equal(GROW(list, room, UINT32_MAX + 1u), -ENOMEM); /* 0: a sum that overflowed */
	assert_int_equal(GROW_ZERO(list, room, SIZE_MAX), -ENOMEM);
	assert_ptr_equal(list, before);
	assert_int_equal(room, 10);
	/* A room that the type of its counter cannot hold. */
	free(list);
	list = NULL;
	assert_int_equal(GROW(list, small, 200), 0);
	assert_int_equal(GROW(list, small, 201), 0);
	assert_int_equal(small, 255);
	assert_int_equal(GROW(list, small, 256), -ENOMEM);
	assert_int_equal(small, 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_room_is_enough),
		cmocka_unit_test(test_zero),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
