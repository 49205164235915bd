/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of ioctl: the type of their memory, and their names.
 */
#include <string.h>
#include <sys/ioctl.h>

#include "base/cleanup.h"
#include "capture/calls/call-requests.h"
#include "capture/calls/call-values.h"
#include "tests/support/unit.h"

TEST(test_types)
{
	static const struct {
		uint32_t request;
		bool has_size, out, in_out;
		uint32_t bytes;
	} rows[] = {
		{ _IOR('x', 1, int), true, true, false, 4 },
		{ _IOW('x', 1, long), true, false, false, 8 },
		{ _IOWR('x', 1, char[300]), true, true, true, 300 },
		{ _IO('x', 1), false, false, false, 0 },
		{ _IOC(_IOC_READ, 'x', 1, 0), false, false, false, 0 },
		{ _IOC(_IOC_NONE, 'x', 1, 8), false, false, false, 0 },
		{ TCGETS, false, false, false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct call_type type = { 0 };

		assert_int_equal(call_request_type(rows[i].request, &type), rows[i].has_size);
		assert_int_equal(type.out, rows[i].out);
		assert_int_equal(type.in_out, rows[i].in_out);
		assert_int_equal(type.count, rows[i].bytes);
	}
}

TEST(test_names)
{
	char text[CALL_SET_TEXT_MAX];

	call_request_format(_IOWR('d', 2, char[16]), text);
	assert_string_equal(text, "_IOC(_IOC_READ|_IOC_WRITE, 0x64, 0x2, 0x10)");
	call_request_format(_IO('d', 0), text);
	assert_string_equal(text, "_IOC(_IOC_NONE, 0x64, 0, 0)");
	call_request_format(UINT32_MAX, text);
	assert_string_equal(text, "_IOC(_IOC_READ|_IOC_WRITE, 0xff, 0xff, 0x3fff)");
}

/* The programs copy more than a request has: what follows belongs to something else. */
TEST(test_limits)
{
	static const struct {
		int32_t copied;
		uint32_t bytes;
		int32_t shown;
		bool cut;
	} rows[] = {
		{ 256, 4, 4, false }, { 256, 256, 256, false }, { 256, 300, 256, true },
		{ 3, 4, 3, true },    { 0, 4, 0, true },        { -14, 4, -14, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct call_text from = { .bytes = rows[i].copied, .cut = 1 };
		struct call_text to;

		assert_ptr_equal(call_request_limit(&from, rows[i].bytes, &to), &to);
		assert_int_equal(to.bytes, rows[i].shown);
		assert_int_equal(to.cut, rows[i].cut);
	}
	assert_null(call_request_limit(NULL, 4, NULL));
}

/* Bytes that the call changes are shown twice, also the largest ones. */
TEST(test_changes)
{
	struct call_text in = { .bytes = 2, .text = "ab" }, out = { .bytes = 2, .text = "cd" };
	const struct call_copies both = { &in, &out }, same = { &in, &in }, failed = { &in, NULL };
	char text[CALL_VALUE_TEXT_MAX];
	struct call_type type;
	size_t n;

	assert_true(call_request_type(_IOWR('x', 1, short), &type));
	assert_string_equal(call_value_copied(&type, &both, 2, 1, text).text,
			    "[\"\\x61\\x62\" => \"\\x63\\x64\"]");
	assert_string_equal(call_value_copied(&type, &same, 2, 1, text).text, "\"\\x61\\x62\"");
	assert_string_equal(call_value_copied(&type, &failed, 2, 1, text).text, "\"\\x61\\x62\"");
	in.bytes = out.bytes = CALL_TEXT_BYTES;
	in.cut = out.cut = 1;
	n = strlen(call_value_copied(&type, &both, CALL_TEXT_BYTES, 1, text).text);
	assert_int_equal(n, 2 * (4 * CALL_TEXT_BYTES + 5) + strlen("[ => ]"));
	assert_int_equal(text[n - 1], ']');
	assert_true(call_request_type(_IOR('x', 1, short), &type));
	assert_int_equal(call_value_copied(&type, &failed, 2, 1, text).form, CALL_VALUE_POINTER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
