/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <unistd.h>

#include "base/foreign-fds.h"
#include "tests/support/unit.h"

/* Before the first descriptor, a process has none. */
TEST(test_none)
{
	int copy;

	foreign_fds_mark(0, FOREIGN_FD_UNKNOWN);
	assert_int_equal(foreign_fds_owner(0), FOREIGN_FD_OWN);
	copy = foreign_fds_dup(1);
	assert_true(copy > 1);
	assert_int_equal(foreign_fds_forget(copy), FOREIGN_FD_OWN);
	close(copy);
}

TEST(test_owner)
{
	int copy;

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

/* An unknown process becomes known. */
TEST(test_give)
{
	const uint64_t peer = FOREIGN_FD_OF_PEER(7);

	foreign_fds_mark(10, peer);
	foreign_fds_mark(11, FOREIGN_FD_OF_PEER(8));
	foreign_fds_mark(12, peer);
	foreign_fds_transfer(peer, FOREIGN_FD_OF(1));
	assert_int_equal(foreign_fds_owner(10), FOREIGN_FD_OF(1));
	assert_int_equal(foreign_fds_owner(11), FOREIGN_FD_OF_PEER(8));
	assert_int_equal(foreign_fds_owner(12), FOREIGN_FD_OF(1));
}

static int left = -1;
static uint64_t left_owner;

static void leave(int fd, uint64_t owner)
{
	left = fd;
	left_owner = owner;
}

/* A descriptor that is left to another owner is marked until that owner closes it: the reaper may
 * scan descriptors meanwhile. */
TEST(test_close)
{
	int fd = foreign_fds_dup(1);

	foreign_fds_mark(fd, FOREIGN_FD_OF(1));
	foreign_fds_set_closer(leave);
	assert_int_equal(close_passed_fd(fd), -1);
	assert_int_equal(left, fd);
	assert_int_equal(left_owner, FOREIGN_FD_OF(1));
	assert_int_equal(foreign_fds_owner(fd), FOREIGN_FD_OF(1));
	assert_true(fcntl(fd, F_GETFD) >= 0);
	foreign_fds_set_closer(NULL);
	assert_int_equal(close_passed_fd(fd), -1);
	assert_int_equal(foreign_fds_owner(fd), FOREIGN_FD_OWN);
	assert_true(fcntl(fd, F_GETFD) < 0);
	assert_int_equal(close_passed_fd(-1), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_give),
		cmocka_unit_test(test_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
