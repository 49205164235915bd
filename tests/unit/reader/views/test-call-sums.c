/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums of calls: which results are failures.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "reader/views/call-sums.h"
#include "tests/support/unit.h"

static struct event event_of(const char *text)
{
	return (struct event){ .kind = EVENT_CALL,
			       .ts_ns = 10,
			       .call = { .function = text,
					 .end_ns = 15,
					 .left_by = "",
					 .result = { .form = CALL_VALUE_TEXT, .text = text } } };
}

/* Only the names of errors are failures, and not each name that begins with 'E'. */
TEST(test_failures)
{
	static const struct {
		const char *text;
		uint64_t failed;
	} rows[] = {
		{ "ENOENT", 1 },        { "EAGAIN", 1 },     { "EHWPOISON", 1 },
		{ "ERESTARTSYS", 1 },   { "EAI_NONAME", 1 }, { "EOPEN", 0 },
		{ "EPERM=2", 0 },       { "E", 0 },          { "EMPTY", 0 },
		{ "\"ENOENT\"", 0 },    { "ENOENTRY", 0 },   { "{ENOENT}", 0 },
		{ "<unavailable>", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct event ev = event_of(rows[i].text);
		_cleanup_free_ struct call_sum **sums = NULL;
		struct call_sums s = { 0 };
		size_t n;

		assert_int_equal(call_sums_add(&s, &ev), 0);
		assert_int_equal(call_sums_by_time(&s, &sums, &n), 0);
		assert_int_equal(n, 1);
		if (sums[0]->failed != rows[i].failed)
			fail_msg("%s: %d", rows[i].text, (int)sums[0]->failed);
		call_sums_deinit(&s);
	}
}

/* A number is a failure if it is -1 of a signed type. */
TEST(test_numbers)
{
	static const struct {
		struct call_value result;
		uint64_t failed;
	} rows[] = {
		{ { .form = CALL_VALUE_INT, .i64 = -1 }, 1 },
		{ { .form = CALL_VALUE_INT, .i64 = -2 }, 0 },
		{ { .form = CALL_VALUE_UINT, .u64 = UINT64_MAX }, 0 },
		{ { .form = CALL_VALUE_POINTER, .u64 = UINT64_MAX }, 0 },
		{ { .form = CALL_VALUE_NONE }, 0 },
	};
	_cleanup_free_ struct call_sum **sums = NULL;
	struct call_sums s = { 0 };
	uint64_t failed = 0;
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event ev = event_of("f");

		ev.call.result = rows[i].result;
		failed += rows[i].failed;
		assert_int_equal(call_sums_add(&s, &ev), 0);
	}
	assert_int_equal(call_sums_by_time(&s, &sums, &n), 0);
	assert_int_equal(sums[0]->took.n, ARRAY_SIZE(rows));
	assert_int_equal(sums[0]->failed, failed);
	call_sums_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
