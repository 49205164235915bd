/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/foreign-fds.h"

/* Before it has begun, a process has none. */
static void test_none(void **state)
{
	int copy;

	(void)state;
	foreign_fds_mark(0, FOREIGN_FD_UNKNOWN);
	assert_int_equal(foreign_fds_owner(0), FOREIGN_FD_OWN);
	copy = foreign_fds_dup(1);
	assert_true(copy > 1);
	assert_int_equal(foreign_fds_forget(copy), FOREIGN_FD_OWN);
	close(copy);
}

static void test_owner(void **state)
{
	int copy;

	(void)state;
	assert_int_equal(foreign_fds_begin(), 0);
	assert_int_equal(foreign_fds_owner(1), FOREIGN_FD_OWN);
	foreign_fds_mark(1, FOREIGN_FD_UNKNOWN);
	foreign_fds_mark(1, FOREIGN_FD_OF(0));
	copy = foreign_fds_dup(1);
	assert_true(copy > 1);
	assert_int_equal(foreign_fds_owner(copy), FOREIGN_FD_OF(0));
	assert_int_equal(foreign_fds_forget(copy), FOREIGN_FD_OF(0));
	assert_int_equal(foreign_fds_forget(copy), FOREIGN_FD_OWN);
	assert_int_equal(foreign_fds_owner(1), FOREIGN_FD_OF(0));
	close(copy);
	assert_true(foreign_fds_dup(-1) < 0);
	foreign_fds_mark(-1, FOREIGN_FD_UNKNOWN);
	foreign_fds_mark(INT32_MAX, FOREIGN_FD_UNKNOWN);
	assert_int_equal(foreign_fds_forget(INT32_MAX), FOREIGN_FD_OWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
