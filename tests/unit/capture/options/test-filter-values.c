/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values of filters, and their limits.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/options/filter-values.h"
#include "tests/support/unit.h"

static char why[VALUE_WHY_MAX];

TEST(test_users)
{
	struct session_options o = { 0 };

	assert_int_equal(filter_add_user(&o.filter, "root", why), 0);
	assert_int_equal(filter_add_user(&o.filter, "65534", why), 0);
	assert_int_equal(filter_add_user(&o.filter, "no such user", why), -ENOENT);
	assert_string_equal(why, "there is no user 'no such user'");
	assert_int_equal(o.filter.n_uids, 2);
	assert_int_equal(o.filter.uids[0], 0);
	assert_int_equal(o.filter.uids[1], 65534);
	for (size_t i = 2; i < FILTER_VALUES_MAX; i++)
		assert_int_equal(filter_add_user(&o.filter, "7", why), 0);
	assert_int_equal(filter_add_user(&o.filter, "7", why), -E2BIG);
	assert_string_equal(why, "at most 64 values are possible");
	assert_int_equal(o.filter.n_uids, FILTER_VALUES_MAX);
	session_options_deinit(&o);
}

TEST(test_comms)
{
	struct session_options o = { 0 };

	assert_int_equal(filter_add_comm(&o.filter, "short", why), 0);
	assert_int_equal(filter_add_comm(&o.filter, "a name that is cut", why), 0);
	assert_int_equal(filter_add_comm(&o.filter, "", why), -EINVAL);
	assert_int_equal(filter_add_comm(&o.filter, "\xff", why), -EINVAL);
	assert_int_equal(o.filter.n_comms, 2);
	assert_string_equal(o.filter.comms[0], "short");
	assert_string_equal(o.filter.comms[1], "a name that is ");
	for (size_t i = 2; i < FILTER_VALUES_MAX; i++)
		assert_int_equal(filter_add_comm(&o.filter, "x", why), 0);
	assert_int_equal(filter_add_comm(&o.filter, "x", why), -E2BIG);
	session_options_deinit(&o);
}

TEST(test_pids)
{
	struct session_options o = { 0 };

	for (uint32_t i = 1; i <= 4096; i++)
		assert_int_equal(filter_add_pid(&o.filter, i, why), 0);
	assert_int_equal(filter_add_pid(&o.filter, 4097, why), -E2BIG);
	assert_int_equal(o.filter.n_pids, 4096);
	assert_int_equal(o.filter.pids[4095], 4096);
	session_options_deinit(&o);
}

TEST(test_cgroups)
{
	struct filter_cgroup list[FILTER_CGROUPS_MAX] = {
		{ .parent_id = 1, .level = 1, .name = "a" },
		{ .parent_id = 2, .level = 2, .name = "b" },
	};
	struct session_options o = { 0 };

	assert_int_equal(filter_add_cgroups(&o.filter, list, 2, why), 0);
	assert_int_equal(filter_add_cgroups(&o.filter, list, 0, why), 0);
	assert_int_equal(filter_add_cgroups(&o.filter, list, FILTER_CGROUPS_MAX - 1, why), -E2BIG);
	assert_int_equal(o.filter.n_cgroups, 2);
	assert_string_equal(o.filter.cgroups[1].name, "b");
	assert_int_equal(filter_add_cgroups(&o.filter, list, FILTER_CGROUPS_MAX - 2, why), 0);
	assert_int_equal(o.filter.n_cgroups, FILTER_CGROUPS_MAX);
	session_options_deinit(&o);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_comms),
		cmocka_unit_test(test_pids),
		cmocka_unit_test(test_cgroups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
