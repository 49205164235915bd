/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/inbuf.h"

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };

static void test_take(void **state)
{
	struct inbuf in = { .data = bytes, .left = sizeof(bytes), .offset = 100 };

	(void)state;
	assert_ptr_equal(inbuf_take(&in, 4), bytes);
	assert_int_equal(in.left, 7);
	assert_int_equal(in.offset, 104);
	assert_ptr_equal(inbuf_take(&in, 0), bytes + 4);
	assert_ptr_equal(inbuf_take(&in, 7), bytes + 4);
	assert_int_equal(in.left, 0);
	assert_int_equal(in.offset, 111);
}

static void test_take_too_much(void **state)
{
	struct inbuf in = { .data = bytes, .left = 3, .offset = 100 };

	(void)state;
	assert_null(inbuf_take(&in, 4));
	assert_null(inbuf_take(&in, SIZE_MAX));
	assert_ptr_equal(in.data, bytes);
	assert_int_equal(in.left, 3);
	assert_int_equal(in.offset, 100);
	assert_ptr_equal(inbuf_take(&in, 3), bytes);
	assert_null(inbuf_take(&in, 1));
}

static void test_take_word(void **state)
{
	struct inbuf in = { .data = bytes + 1, .left = 9, .offset = 1 };
	uint64_t word = 42;

	(void)state;
	assert_int_equal(inbuf_take_word(&in, &word), 1);
	assert_int_equal(word, 0x0908070605040302);
	assert_int_equal(in.left, 1);
	assert_int_equal(in.offset, 9);
	word = 42;
	assert_int_equal(inbuf_take_word(&in, &word), 0);
	assert_int_equal(word, 42);
	assert_int_equal(in.left, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take),
		cmocka_unit_test(test_take_too_much),
		cmocka_unit_test(test_take_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
