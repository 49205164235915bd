/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "daemon/access.h"

static void test_access_decide_rules(void **state)
{
	static const gid_t groups[] = { 7, 4000000001, 9 };
	static const struct {
		const char *group;
		uid_t uid;
		const gid_t *groups;
		size_t n_groups;
		int expected;
		const char *sentence;
	} rows[] = {
		{ "no_such_group", 0, NULL, 0, 0, NULL },
		{ "4000000001", 4000000000, groups, 3, 0, NULL },
		{ "4000000001", 4000000000, groups, 1, -EACCES,
		  "user 4000000000 is neither root nor in group 4000000001: add them with "
		  "`adduser 4000000000 4000000001` and log in again" },
		{ "4000000001", 4000000000, groups, 0, -EACCES, NULL },
		{ "4000000001", 4000000000, NULL, 0, -EACCES, NULL },
		{ "no_such_group", 4000000000, groups, 3, -EACCES,
		  "user 4000000000 is not root, and there is no group no_such_group whose members "
		  "may use kymo: make it with `addgroup --system no_such_group`, then "
		  "`adduser 4000000000 no_such_group`" },
		{ "root", 4000000000, groups, 3, -EACCES, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sd_bus_error e = SD_BUS_ERROR_NULL;

		assert_int_equal(access_decide(rows[i].group, rows[i].uid, rows[i].groups,
					       rows[i].n_groups, &e),
				 rows[i].expected);
		assert_true(!!e.name == (rows[i].expected < 0));
		if (e.name)
			assert_string_equal(e.name, "org.kymo.Trace1.Error.AccessDenied");
		if (rows[i].sentence)
			assert_string_equal(e.message, rows[i].sentence);
		sd_bus_error_free(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_access_decide_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
