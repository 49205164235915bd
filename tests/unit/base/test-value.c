/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values within bounds, errors for others, and suggestions.
 */
#include <errno.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/value.h"
#include "tests/support/unit.h"

struct row {
	const char *text;
	uint64_t value;
	const char *why; /* NULL = valid */
};

static void check(enum value_unit unit, uint64_t min, uint64_t max, const struct row *rows,
		  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char why[VALUE_WHY_MAX] = "";
		uint64_t v = 77;

		assert_int_equal(value_parse(unit, rows[i].text, min, max, &v, why),
				 rows[i].why ? -EINVAL : 0);
		assert_int_equal(v, rows[i].why ? 77 : rows[i].value);
		assert_string_equal(why, rows[i].why ?: "");
	}
}

TEST(test_time)
{
	static const struct row rows[] = {
		{ "1ms", 1000000, NULL },
		{ "1min 30s", UINT64_C(90000000000), NULL },
		{ "soon", 0, "'soon' is not a time; say 5, 500ms or 2m" },
		{ "", 0, "'' is not a time; say 5, 500ms or 2m" },
		{ "1us", 0, "'1us' is out of range: 1.00 ms to 120 s" },
		{ "121", 0, "'121' is out of range: 1.00 ms to 120 s" },
		{ "99999999999999", 0, "'99999999999999' is out of range: 1.00 ms to 120 s" },
	};
	static const struct row open_rows[] = {
		{ "1us", 0, "'1us' is out of range: 1.00 ms or more" },
	};

	check(VALUE_TIME, 1000000, UINT64_C(120000000000), rows, ARRAY_SIZE(rows));
	check(VALUE_TIME, 1000000, INT64_MAX, open_rows, ARRAY_SIZE(open_rows));
}

TEST(test_size)
{
	static const struct row rows[] = {
		{ "64K", 65536, NULL },
		{ "1M", 1 << 20, NULL },
		{ "1M more", 0, "'1M more' is not a size; say 4096, 64K or 8M" },
		{ "64K1", 0, "'64K1' is not a size; say 4096, 64K or 8M" },
		{ "65535", 0, "'65535' is out of range: 64.0 KiB to 1.0 MiB" },
	};

	check(VALUE_SIZE, 65536, 1 << 20, rows, ARRAY_SIZE(rows));
}

TEST(test_count)
{
	static const struct row rows[] = {
		{ "1", 1, NULL },
		{ "99", 99, NULL },
		{ "1K", 0, "'1K' is out of range: 1 to 99" },
		{ "0", 0, "'0' is out of range: 1 to 99" },
		{ "100", 0, "'100' is out of range: 1 to 99" },
		{ "9.5", 0, "'9.5' is not a whole number" },
		{ "-1", 0, "'-1' is not a whole number" },
	};

	check(VALUE_COUNT, 1, 99, rows, ARRAY_SIZE(rows));
}

TEST(test_percent)
{
	static const struct row rows[] = {
		{ "5%", 50000, NULL },
		{ "0.1%", 1000, NULL },
		{ "12.3456%", 123456, NULL },
		{ "100%", 1000000, NULL },
		{ "5", 50000, NULL },
		{ "%", 0, "'%' is not a percentage; say 5% or 0.5%" },
		{ "5.%", 0, "'5.%' is not a percentage; say 5% or 0.5%" },
		{ ".5%", 0, "'.5%' is not a percentage; say 5% or 0.5%" },
		{ "5%%", 0, "'5%%' is not a percentage; say 5% or 0.5%" },
		{ "1.2.3%", 0, "'1.2.3%' is not a percentage; say 5% or 0.5%" },
		{ "0.00001%", 0, "'0.00001%' is not a percentage; say 5% or 0.5%" },
		{ "0.09%", 0, "'0.09%' is out of range: 0.1% to 100%" },
		{ "100.0001%", 0, "'100.0001%' is out of range: 0.1% to 100%" },
		{ "99999999999999999999%", 0,
		  "'99999999999999999999%' is out of range: 0.1% to 100%" },
	};
	char text[TEXT_FORMAT_MAX];

	check(VALUE_SHARE, 1000, 1000000, rows, ARRAY_SIZE(rows));
	assert_string_equal(value_format_percent(text, 0), "0%");
	assert_string_equal(value_format_percent(text, 1000000), "100%");
	assert_string_equal(value_format_percent(text, 123450), "12.345%");
	assert_string_equal(value_format_percent(text, 1), "0.0001%");
}

TEST(test_bool)
{
	static const char *const good[] = { "no", "yes", "false", "true", "off", "ON", "0", "1" };
	char why[VALUE_WHY_MAX];
	bool v = true;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(value_parse_bool(good[i], &v, why), 0);
		assert_int_equal(v, i & 1);
	}
	assert_int_equal(value_parse_bool("maybe", &v, why), -EINVAL);
	assert_string_equal(why, "'maybe' is not yes or no");
	assert_int_equal(value_parse_bool("", &v, why), -EINVAL);
}

TEST(test_nearest)
{
	struct value_nearest near = { .text = "bfu", .distance = VALUE_NEAR };

	assert_true(value_nearest_try(&near, "fd"));
	assert_true(value_nearest_try(&near, "buf"));
	assert_false(value_nearest_try(&near, "bf"));
	assert_string_equal(near.nearest, "buf");
}

TEST(test_distance)
{
	assert_int_equal(value_distance("", ""), 0);
	assert_int_equal(value_distance("Mode", "mode"), 0);
	assert_int_equal(value_distance("Mod", "Mode"), 1);
	/* (two neighbours that were swapped are one error) */
	assert_int_equal(value_distance("Moed", "Mode"), 1);
	assert_int_equal(value_distance("bfu", "buf"), 1);
	assert_int_equal(value_distance("bfu", "fd"), 2);
	assert_int_equal(value_distance("ab", "bca"), 3);
	assert_int_equal(value_distance("abcd", "badc"), 2);
	assert_int_equal(value_distance("abc", ""), 3);
	assert_int_equal(value_distance("kitten", "sitting"), 3);
	assert_true(value_distance("a", "a text of much more than thirty characters") >=
		    VALUE_NEAR);
	assert_true(value_distance("a text of much more than thirty characters", "a") >=
		    VALUE_NEAR);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),    cmocka_unit_test(test_size),
		cmocka_unit_test(test_count),   cmocka_unit_test(test_percent),
		cmocka_unit_test(test_bool),    cmocka_unit_test(test_distance),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
