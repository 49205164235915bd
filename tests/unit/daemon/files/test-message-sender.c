/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/files/message-sender.h"
#include "tests/support/unit.h"

/* A message that is being written. */
static struct {
	uint8_t data[8192];
	size_t n;
	bool is_big;
} m;

static void put(const void *p, size_t n)
{
	memcpy(m.data + m.n, p, n);
	m.n += n;
}

static void put_u32(uint32_t value)
{
	m.n = (m.n + 3) / 4 * 4;
	value = m.is_big ? htobe32(value) : htole32(value);
	put(&value, sizeof(value));
}

static void begin(bool is_big)
{
	memset(&m, 0, sizeof(m));
	m.is_big = is_big;
	put(is_big ? "B\1\0\1" : "l\1\0\1", 4);
	put_u32(0);
	put_u32(1);
	put_u32(0);
}

static void put_field(uint8_t code, const char *signature)
{
	uint8_t size = (uint8_t)strlen(signature);

	m.n = (m.n + 7) / 8 * 8;
	put(&code, 1);
	put(&size, 1);
	put(signature, size + 1u);
}

static void put_text(uint8_t code, const char *signature, const char *text)
{
	put_field(code, signature);
	put_u32((uint32_t)strlen(text));
	put(text, strlen(text) + 1);
}

/* Ends the fields here. */
static void finish(void)
{
	uint32_t size = (uint32_t)m.n - 16;

	size = m.is_big ? htobe32(size) : htole32(size);
	memcpy(m.data + 12, &size, sizeof(size));
}

static void put_all_kinds(void)
{
	put_text(1, "o", "/org/kymo/Trace1");
	put_text(3, "s", "CreateSession");
	put_field(8, "g");
	put("\6sa{sv}", 8);
	put_field(9, "u");
	put_u32(16);
}

TEST(test_found)
{
	char name[MESSAGE_SENDER_MAX];

	for (int i = 0; i < 2; i++) {
		begin(i == 1);
		put_all_kinds();
		put_text(7, "s", ":1.4711");
		finish();
		put("body", 4);
		assert_int_equal(message_find_sender(m.data, m.n, name), 0);
		assert_string_equal(name, ":1.4711");
	}
}

/* Truncated anywhere, or with any byte changed, no byte outside is read. */
TEST(test_damaged)
{
	char name[MESSAGE_SENDER_MAX];
	size_t whole;

	begin(false);
	put_all_kinds();
	put_text(7, "s", ":1.4711");
	finish();
	whole = m.n;
	for (size_t n = 0; n < whole; n++) {
		uint8_t *copy = malloc(n ?: 1);

		memcpy(copy, m.data, n);
		assert_int_equal(message_find_sender(copy, n, name), -ENODATA);
		for (size_t at = 0; at < n; at++) {
			for (int bit = 0; bit < 8; bit++) {
				copy[at] ^= (uint8_t)(1 << bit);
				message_find_sender(copy, n, name);
				copy[at] ^= (uint8_t)(1 << bit);
			}
		}
		free(copy);
	}
}

TEST(test_not_found)
{
	char name[MESSAGE_SENDER_MAX], text[MESSAGE_SENDER_MAX + 1];

	begin(false);
	put_all_kinds();
	finish();
	assert_int_equal(message_find_sender(m.data, m.n, name), -ENODATA);
	/* Fields in the body are not the bus's. */
	put_text(7, "s", ":1.1");
	assert_int_equal(message_find_sender(m.data, m.n, name), -ENODATA);
	/* Of another type; after an unknown field that cannot be skipped; too long. */
	begin(false);
	put_field(7, "u");
	put_u32(1);
	finish();
	assert_int_equal(message_find_sender(m.data, m.n, name), -ENODATA);
	begin(false);
	put_field(77, "as");
	put_u32(0);
	put_text(7, "s", ":1.1");
	finish();
	assert_int_equal(message_find_sender(m.data, m.n, name), -ENODATA);
	begin(false);
	memset(text, 'x', MESSAGE_SENDER_MAX);
	text[MESSAGE_SENDER_MAX] = '\0';
	put_text(7, "s", text);
	finish();
	assert_int_equal(message_find_sender(m.data, m.n, name), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
