/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order in which tables of files are made: slow files of a user do not delay those of others.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/unwind/unwind-queue.h"
#include "tests/support/unit.h"

#define SECOND UINT64_C(1000000000)

static struct unwind_file files[UNWIND_FILES_MAX];
static struct unwind_queue queue;

/* A file of user UID, without a name. */
static int open_file_of(uid_t uid)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, uid, (gid_t)-1), 0);
	return fd;
}

static void put(uint32_t number, int fd)
{
	struct unwind_waiting file = { .ask.number = number, .fd = fd };

	assert_int_equal(unwind_queue_put(&queue, &file), 0);
}

/* Takes the next one, and spends NS on it. Returns its number. */
static uint32_t take(uint64_t ns)
{
	struct unwind_waiting file = unwind_queue_pop(&queue, files);

	close_fd(file.fd);
	unwind_queue_charge(&queue, file.owner, ns);
	return file.ask.number;
}

FIXTURE(teardown)
{
	unwind_queue_deinit(&queue);
	for (size_t i = 0; i < UNWIND_FILES_MAX; i++)
		files[i].missed = 0;
	return 0;
}

TEST(test_missed)
{
	files[7].missed = 16;
	files[5].missed = 15;
	put(5, -1);
	put(7, -1);
	put(6, -1);
	assert_int_equal(take(0), 7);
	assert_int_equal(take(0), 6);
	assert_int_equal(take(0), 5);
	assert_int_equal(queue.n, 0);
}

/* Ten slow files of one user, which all walks need, and those of other users. */
TEST(test_owners)
{
	if (geteuid() != 0)
		skip();
	for (uint32_t i = 10; i < 20; i++) {
		files[i].missed = 1000000;
		put(i, open_file_of(1000));
	}
	put(1, open_file_of(0));
	put(2, open_file_of(1001));
	assert_in_range(take(10 * SECOND), 10, 19);
	files[1].missed = 16;
	assert_int_equal(take(SECOND / 100), 1);
	assert_int_equal(take(SECOND / 100), 2);
	/* One that comes later, too. */
	assert_in_range(take(10 * SECOND), 10, 19);
	put(3, open_file_of(0));
	assert_int_equal(take(0), 3);
	assert_in_range(take(10 * SECOND), 10, 19);
	assert_int_equal(queue.n, 7);
}

TEST(test_full)
{
	struct unwind_waiting file = { .fd = open("/", O_PATH | O_CLOEXEC) };

	for (uint32_t i = 0; i < UNWIND_QUEUE_MAX; i++)
		put(i, -1);
	assert_int_equal(unwind_queue_put(&queue, &file), -ENOBUFS);
	assert_int_equal(fcntl(file.fd, F_GETFD), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_missed, teardown),
		cmocka_unit_test_teardown(test_owners, teardown),
		cmocka_unit_test_teardown(test_full, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
