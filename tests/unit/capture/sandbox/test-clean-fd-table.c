/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <unistd.h>

#include "base/foreign-fds.h"
#include "capture/sandbox/clean-fd-table.h"
#include "tests/support/unit.h"

/* In another table, the number is another descriptor. */
static int close_same_number(void *userdata)
{
	int mark = *(int *)userdata, fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int r = fd == mark ? 0 : -1;

	if (foreign_fds_owner(fd) != FOREIGN_FD_OWN || foreign_fds_forget(fd) != FOREIGN_FD_OWN)
		r = -2;
	foreign_fds_mark(fd, FOREIGN_FD_OF(2));
	close(fd);
	return r;
}

TEST(test_marks)
{
	int fd;

	assert_int_equal(foreign_fds_begin(), 0);
	assert_int_equal(clean_fd_table_begin(), 0);
	assert_true(clean_fd_table_null() > 2 && clean_fd_table_null() < CLEAN_FD_TABLE);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(fd, CLEAN_FD_TABLE);
	foreign_fds_mark(fd, FOREIGN_FD_OF(1));
	assert_int_equal(clean_fd_table_run(close_same_number, &fd), 0);
	assert_int_equal(foreign_fds_owner(fd), FOREIGN_FD_OF(1));
	assert_true(fcntl(fd, F_GETFD) >= 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
