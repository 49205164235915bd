/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "daemon/common/bus-error.h"
#include "tests/support/unit.h"

TEST(test_set_names)
{
	static const struct {
		int error;
		const char *name;
	} rows[] = {
		{ -EACCES, "AccessDenied" },     { -EINVAL, "InvalidOption" },
		{ -EBADF, "InvalidOutput" },     { -EEXIST, "SessionExists" },
		{ -ENOENT, "NoSuchSession" },    { -EDQUOT, "LimitReached" },
		{ -EOPNOTSUPP, "NotSupported" }, { -ENODEV, "CannotCapture" },
		{ -EALREADY, "AlreadyStarted" }, { -ESHUTDOWN, "NotRunning" },
		{ -EAGAIN, "TryAgain" },         { -ENOSPC, "OutputFailed" },
		{ -EPIPE, "OutputFailed" },      { -EXDEV, "Failed" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sd_bus_error e = SD_BUS_ERROR_NULL;

		assert_int_equal(bus_error_set(&e, rows[i].error, NULL), rows[i].error);
		assert_memory_equal(e.name, BUS_ERROR_PREFIX, strlen(BUS_ERROR_PREFIX));
		assert_string_equal(e.name + strlen(BUS_ERROR_PREFIX), rows[i].name);
		assert_true(strlen(e.message) > 3);
		sd_bus_error_free(&e);
	}
}

TEST(test_set_sentence)
{
	sd_bus_error e = SD_BUS_ERROR_NULL;

	assert_int_equal(bus_error_set(&e, -ENOENT, "there is no %s, %d", "thing", 7), -ENOENT);
	assert_string_equal(e.message, "there is no thing, 7");
	/* The first error remains. */
	assert_int_equal(bus_error_set(&e, -EINVAL, "something else"), -EINVAL);
	assert_string_equal(e.name, BUS_ERROR_PREFIX "NoSuchSession");
	assert_string_equal(e.message, "there is no thing, 7");
	sd_bus_error_free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_names),
		cmocka_unit_test(test_set_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
