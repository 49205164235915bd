/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "tests/support/unit.h"

static bool all_zero(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != 0)
			return false;
	return true;
}

TEST(test_reserve)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	uint8_t *p = outbuf_reserve(&b, 16);

	assert_non_null(p);
	assert_int_equal((uintptr_t)p % 8, 0);
	assert_int_equal(b.size, 16);
	assert_true(all_zero(p, 16));
	memset(p, 0xff, 16);
	p = outbuf_reserve(&b, 8);
	assert_ptr_equal(p, b.data + 16);
	assert_true(all_zero(p, 8));
	assert_int_equal(b.size, 24);
}

TEST(test_reserve_nothing)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };

	assert_non_null(outbuf_reserve(&b, 0));
	assert_int_equal(b.size, 0);
	assert_int_equal(b.error, 0);
}

/* Written data is kept when the buffer moves. */
TEST(test_reserve_grows)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };

	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t *p = outbuf_reserve(&b, sizeof(i));

		assert_non_null(p);
		*p = i;
	}
	assert_int_equal(b.size, 80000);
	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(((uint64_t *)b.data)[i], i);
}

/* Reused memory is zeroed again. */
TEST(test_reserve_after_reset)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	uint8_t *p = outbuf_reserve(&b, 64);

	memset(p, 0xff, 64);
	outbuf_reset(&b);
	assert_int_equal(b.size, 0);
	assert_ptr_equal(outbuf_reserve(&b, 64), p);
	assert_true(all_zero(p, 64));
}

/* The buffer grows in larger steps, but the limit is exact. */
TEST(test_reserve_limit)
{
	static const struct {
		size_t limit, first, second;
		bool fits;
	} rows[] = {
		{ 100, 50, 50, true },      { 100, 50, 51, false },      { 5000, 4097, 903, true },
		{ 5000, 4097, 904, false }, { 5000, 4097, 4000, false }, { 4096, 4096, 1, false },
		{ 4096, 4090, 6, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(outbuf_deinit) struct outbuf b = { .limit = rows[i].limit };

		assert_non_null(outbuf_reserve(&b, rows[i].first));
		if (rows[i].fits) {
			assert_non_null(outbuf_reserve(&b, rows[i].second));
			assert_int_equal(b.size, rows[i].first + rows[i].second);
		} else {
			assert_null(outbuf_reserve(&b, rows[i].second));
			assert_int_equal(b.error, -EMSGSIZE);
			assert_int_equal(b.size, rows[i].first);
		}
	}
}

TEST(test_reserve_overflow)
{
	static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 8, SIZE_MAX / 2 + 1 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		_cleanup_(outbuf_deinit) struct outbuf b = { 0 };

		assert_non_null(outbuf_reserve(&b, 16));
		assert_null(outbuf_reserve(&b, sizes[i]));
		assert_int_equal(b.error, -EMSGSIZE);
	}
}

/* The first error remains, even if later data would fit. */
TEST(test_error_sticks)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { .limit = 32 };

	assert_non_null(outbuf_reserve(&b, 24));
	assert_null(outbuf_reserve(&b, 16));
	assert_null(outbuf_reserve(&b, 8));
	assert_int_equal(outbuf_append(&b, "x", 1), -EMSGSIZE);
	assert_int_equal(b.size, 24);
	outbuf_reset(&b);
	assert_int_equal(b.error, 0);
	assert_non_null(outbuf_reserve(&b, 32));
}

TEST(test_append)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { .limit = 10 };

	assert_int_equal(outbuf_append(&b, NULL, 0), 0);
	assert_int_equal(outbuf_append(&b, "hello", 5), 0);
	assert_int_equal(outbuf_append(&b, "", 0), 0);
	assert_int_equal(outbuf_append(&b, "world", 5), 0);
	assert_memory_equal(b.data, "helloworld", 10);
	assert_int_equal(outbuf_append(&b, "!", 1), -EMSGSIZE);
	assert_int_equal(b.size, 10);
	assert_int_equal(b.error, -EMSGSIZE);
}

TEST(test_deinit)
{
	struct outbuf b = { .limit = 16 };

	assert_null(outbuf_reserve(&b, 17));
	outbuf_deinit(&b);
	assert_null(b.data);
	assert_int_equal(b.error, 0);
	assert_int_equal(b.limit, 16);
	assert_non_null(outbuf_reserve(&b, 16));
	outbuf_deinit(&b);
	outbuf_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reserve),       cmocka_unit_test(test_reserve_nothing),
		cmocka_unit_test(test_reserve_grows), cmocka_unit_test(test_reserve_after_reset),
		cmocka_unit_test(test_reserve_limit), cmocka_unit_test(test_reserve_overflow),
		cmocka_unit_test(test_error_sticks),  cmocka_unit_test(test_append),
		cmocka_unit_test(test_deinit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
