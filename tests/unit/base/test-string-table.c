/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of numbers, and numbers of names, with gaps.
 */
#include <errno.h>

#include "base/string-table.h"
#include "tests/support/unit.h"

static const char *const names[] = { [1] = "one", [2] = "", [4] = "four", [5] = "one" };

TEST(test_name)
{
	assert_null(STRING_TABLE_NAME(names, 0));
	assert_string_equal(STRING_TABLE_NAME(names, 1), "one");
	assert_null(STRING_TABLE_NAME(names, 3));
	assert_string_equal(STRING_TABLE_NAME(names, 4), "four");
	assert_null(STRING_TABLE_NAME(names, 6));
	assert_null(STRING_TABLE_NAME(names, SIZE_MAX));
	assert_null(string_table_name(names, 4, 4));
}

TEST(test_find)
{
	assert_int_equal(STRING_TABLE_FIND(names, "one"), 1);
	assert_int_equal(STRING_TABLE_FIND(names, "four"), 4);
	assert_int_equal(STRING_TABLE_FIND(names, ""), 2);
	assert_int_equal(STRING_TABLE_FIND(names, "on"), -EINVAL);
	assert_int_equal(STRING_TABLE_FIND(names, "ONE"), -EINVAL);
	assert_int_equal(string_table_find(names, 4, "four"), -EINVAL);
	assert_int_equal(string_table_find(names, 0, "one"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
