/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "daemon/access/credentials.h"
#include "tests/support/unit.h"

TEST(test_credentials_in_group_rules)
{
	static gid_t groups[] = { 7, 4000000001, 9 };
	static const struct {
		const char *group;
		struct credentials c;
		int expected;
	} rows[] = {
		{ "4000000001", { true, 4000000000, groups, 3 }, 0 },
		{ "4000000001", { true, 4000000000, groups, 1 }, -EACCES },
		{ "4000000001", { true, 4000000000, groups, 0 }, -EACCES },
		/* a user in no database, about whose groups the bus says nothing */
		{ "4000000001", { true, 4000000000, NULL, 0 }, -EACCES },
		{ "no_such_group", { true, 4000000000, groups, 3 }, -ENOENT },
		{ "root", { true, 4000000000, groups, 3 }, -EACCES },
		/* by the database */
		{ "root", { true, 0, NULL, 0 }, 0 },
		/* the bus has precedence */
		{ "root", { true, 0, groups, 3 }, -EACCES },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(credentials_in_group(&rows[i].c, rows[i].group), rows[i].expected);
}

TEST(test_user_name)
{
	char name[USER_NAME_MAX];

	user_name(0, name);
	assert_string_equal(name, "root");
	user_name(4000000000, name);
	assert_string_equal(name, "4000000000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_credentials_in_group_rules),
		cmocka_unit_test(test_user_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
