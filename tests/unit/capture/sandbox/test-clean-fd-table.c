/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
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

static int use(int fd, void *userdata)
{
	*(int *)userdata = fd;
	return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
}

/* Nothing of a descriptor is left afterwards, also if the process can open no other one. */
TEST(test_without_room)
{
	struct rlimit before, limit;
	int socks[2], number = -1;
	char c;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = CLEAN_FD_TABLE; /* (test_marks has used all of these) */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(open("/dev/null", O_RDONLY | O_CLOEXEC), -1);
	assert_int_equal(clean_fd_table_run_with(socks[1], use, &number), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(number > 2 && number < CLEAN_FD_TABLE);
	assert_true(fcntl(number, F_GETFD) >= 0);
	close(socks[1]);
	/* (the kernel closes the table of the thread after the thread is joined) */
	assert_soon(recv(socks[0], &c, 1, MSG_DONTWAIT) == 0);
	close(socks[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_without_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
