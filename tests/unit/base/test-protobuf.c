/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes are those of the examples in protobuf's description of its encoding, or derived from
 * it: a tag is field << 3 | type; numbers are varints.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/protobuf.h"
#include "tests/support/unit.h"

#define ASSERT_BYTES(b, ...)                                                                       \
	do {                                                                                       \
		static const uint8_t want_[] = { __VA_ARGS__ };                                    \
		assert_int_equal((b)->size, sizeof(want_));                                        \
		assert_memory_equal((b)->data, want_, sizeof(want_));                              \
	} while (0)

TEST(test_numbers)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };

	protobuf_add_u64(&b, 1, 150);
	ASSERT_BYTES(&b, 0x08, 0x96, 0x01);
	outbuf_reset(&b);
	protobuf_add_u64(&b, 1, 0);
	protobuf_add_nonzero(&b, 2, 0);
	protobuf_add_nonzero(&b, 3, 127);
	protobuf_add_nonzero(&b, 16, 128);
	ASSERT_BYTES(&b, 0x08, 0x00, 0x18, 0x7f, 0x80, 0x01, 0x80, 0x01);
	outbuf_reset(&b);
	protobuf_add_u64(&b, 1, (uint64_t)-2);
	ASSERT_BYTES(&b, 0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
}

/* The same by hand. */
TEST(test_put)
{
	static const uint8_t want[] = { 0x82, 0x01, 0x02, 0x08, 0x07 };
	uint8_t bytes[PROTOBUF_HEAD_MAX + PROTOBUF_NUMBER_MAX];
	size_t n = protobuf_put_head(bytes, 16, 2);

	n += protobuf_put_u64(bytes + n, 1, 7);
	assert_int_equal(n, sizeof(want));
	assert_memory_equal(bytes, want, n);
	assert_int_equal(protobuf_put_u64(bytes, (1u << 29) - 1, UINT64_MAX), PROTOBUF_NUMBER_MAX);
	assert_in_range(protobuf_put_head(bytes, (1u << 29) - 1, SIZE_MAX), 1, PROTOBUF_HEAD_MAX);
}

TEST(test_double)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };

	protobuf_add_double(&b, 44, -2.5);
	ASSERT_BYTES(&b, 0xe1, 0x02, 0, 0, 0, 0, 0, 0, 0x04, 0xc0);
}

TEST(test_bytes)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };

	protobuf_add_text(&b, 2, "testing");
	ASSERT_BYTES(&b, 0x12, 0x07, 't', 'e', 's', 't', 'i', 'n', 'g');
	outbuf_reset(&b);
	protobuf_add_bytes(&b, 2, NULL, 0);
	protobuf_add_bytes(&b, 3, "\0\1", 2);
	ASSERT_BYTES(&b, 0x12, 0x00, 0x1a, 0x02, 0x00, 0x01);
}

TEST(test_messages)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	size_t outer, inner, packed;

	outer = protobuf_begin(&b, 3);
	inner = protobuf_begin(&b, 1);
	protobuf_end(&b, inner);
	packed = protobuf_begin(&b, 6);
	protobuf_add_packed(&b, 3);
	protobuf_add_packed(&b, 270);
	protobuf_add_packed(&b, 86942);
	protobuf_end(&b, packed);
	protobuf_end(&b, outer);
	ASSERT_BYTES(&b, 0x1a, 0x0a, 0x0a, 0x00, 0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05);
}

/* A length of two bytes moves the contents by two. */
TEST(test_long_message)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	uint8_t bytes[200];
	size_t message;

	memset(bytes, 7, sizeof(bytes));
	message = protobuf_begin(&b, 1);
	protobuf_add_bytes(&b, 1, bytes, sizeof(bytes));
	protobuf_end(&b, message);
	assert_int_equal(b.size, 3 + 3 + 200);
	assert_memory_equal(b.data, "\x0a\xcb\x01\x0a\xc8\x01", 6);
	assert_memory_equal(b.data + 6, bytes, sizeof(bytes));
}

TEST(test_full)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { .limit = 4 };
	size_t message;

	message = protobuf_begin(&b, 1);
	protobuf_add_text(&b, 1, "too long");
	protobuf_end(&b, message);
	assert_int_equal(b.error, -EMSGSIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),  cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_messages), cmocka_unit_test(test_long_message),
		cmocka_unit_test(test_double),   cmocka_unit_test(test_full),
		cmocka_unit_test(test_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
