/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of mappings that cannot be read. A FIFO without a writer takes the place of the list: its
 * open waits, as a read of the list can wait for the lock of an address space.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/proc/mappings.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

static int count(const struct rec_mapping *rec, void *userdata)
{
	int *n = userdata;

	assert_int_equal(rec->head.kind, REC_MAPPING);
	return ++*n == 3 ? -EDOM : 0;
}

static int list(uint32_t pid, int *ret_n)
{
	*ret_n = 0;
	return mappings_of_process_bounded(".", pid, count, ret_n, NULL);
}

TEST(test_whole)
{
	uint64_t cpu_ns = 0;
	int n = 0;

	put_text(".", "/proc/42/maps",
		 "00401000-00402000 r-xp 00001000 fe:01 77                /bin/a b\n"
		 "7f0000000000-7f0000002000 rwxp 00000000 00:00 0 \n");
	assert_int_equal(mappings_of_process_bounded(".", 42, count, &n, &cpu_ns), 0);
	assert_int_equal(n, 2);
	assert_true(cpu_ns > 0);
	assert_int_equal(list(43, &n), 0); /* has ended */
	assert_int_equal(n, 0);
	put_text(".", "/proc/44/maps",
		 "00401000-00402000 r-xp 00001000 fe:01 77                /bin/a\n"
		 "00403000-00404000 r-xp 00001000 fe:01 77                /bin/a\n"
		 "00405000-00406000 r-xp 00001000 fe:01 77                /bin/a\n"
		 "00407000-00408000 r-xp 00001000 fe:01 77                /bin/a\n");
	assert_int_equal(list(44, &n), -EDOM);
	assert_int_equal(n, 3);
}

/* A list that cannot be read delays no other one, and is not waited for again. */
TEST(test_hanging)
{
	_cleanup_close_ int writer = -1;
	int n;

	put_text(".", "/proc/42/maps", "");
	assert_int_equal(unlink("./proc/42/maps"), 0);
	assert_int_equal(mkfifo("./proc/42/maps", 0600), 0);
	put_text(".", "/proc/43/maps",
		 "00401000-00402000 r-xp 00001000 fe:01 77                /bin/a\n");
	assert_int_equal(list(42, &n), -ETIME);
	assert_int_equal(list(42, &n), -EBUSY);
	assert_int_equal(list(43, &n), 0);
	assert_int_equal(n, 1);
	/* The thread that hangs ends when it can read again. */
	writer = open("./proc/42/maps", O_WRONLY | O_CLOEXEC);
	assert_true(writer >= 0);
	writer = close_fd(writer);
	assert_int_equal(unlink("./proc/42/maps"), 0);
	assert_soon(list(42, &n) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, own_directory_set_up,
						own_directory_tear_down),
		cmocka_unit_test_setup_teardown(test_hanging, own_directory_set_up,
						own_directory_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
