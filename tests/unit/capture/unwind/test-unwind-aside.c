/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Large files, whose tables are made by another thread, one at a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/unwind/unwind-aside.h"
#include "capture/unwind/unwind-cache.h"
#include "tests/support/unit.h"

static char directory[] = "/tmp/kymo-unwind-aside.XXXXXX";
static struct unwind_aside *aside;
static int done_fd;

FIXTURE(begin_cache)
{
	assert_non_null(mkdtemp(directory));
	return setenv("CACHE_DIRECTORY", directory, 1);
}

FIXTURE(end_cache)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

FIXTURE(setup)
{
	done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return unwind_aside_new(done_fd, &aside);
}

FIXTURE(teardown)
{
	aside = unwind_aside_free(aside);
	close_fd(done_fd);
	return 0;
}

/* Begins with the file at PATH, as number NUMBER. Returns its descriptor, which is passed on. */
static int begin(const char *path, uint32_t number)
{
	struct unwind_waiting file = {
		.ask.number = number,
		.fd = open(path, O_RDONLY | O_CLOEXEC),
		.owner = 3,
	};

	assert_true(file.fd >= 0);
	assert_int_equal(unwind_aside_begin(aside, &file), 0);
	return file.fd;
}

static void assert_table(int result, uint32_t number, int fd)
{
	struct unwind_aside_file made;

	assert_true(unwind_aside_is_busy(aside));
	assert_soon(unwind_aside_next(aside, &made));
	assert_int_equal(made.result, result);
	assert_int_equal(made.file.ask.number, number);
	assert_int_equal(made.file.owner, 3);
	assert_true(made.table.n_rows > 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_false(unwind_aside_is_busy(aside));
	assert_false(unwind_aside_next(aside, &made));
	unwind_table_deinit(&made.table);
}

/* The next one finds the table of the first one in the cache. */
TEST(test_made)
{
	struct pollfd done = { .fd = done_fd, .events = POLLIN };

	assert_false(unwind_aside_is_busy(aside));
	assert_table(0, 5, begin("/proc/self/exe", 5));
	assert_int_equal(poll(&done, 1, 0), 1);
	assert_table(UNWIND_CACHE_FOUND, 6, begin("/proc/self/exe", 6));
}

TEST(test_no_table)
{
	struct unwind_aside_file made;

	begin("/proc/self/maps", 7);
	assert_soon(unwind_aside_next(aside, &made));
	assert_true(made.result < 0);
	assert_int_equal(made.table.n_rows, 0);
}

/* The owner does not wait for the thread. */
TEST(test_freed)
{
	int fd = begin("/proc/self/exe", 8);

	aside = unwind_aside_free(aside);
	assert_soon(fcntl(fd, F_GETFD) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_made, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_table, setup, teardown),
		cmocka_unit_test_setup_teardown(test_freed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, begin_cache, end_cache);
}
