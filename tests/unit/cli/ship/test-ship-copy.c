/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies and removals of what a converter can leave: also links, FIFOs and directories.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cli/ship/ship-copy.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

static int open_here(void)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static int copy(int fd, const char *from)
{
	const struct ship_copy c = { .from_fd = fd, .from = from, .to_fd = fd, .name = "to" };

	return ship_copy_run(&c);
}

/* Neither of them blocks, and nothing of them is left. */
TEST(test_only_files)
{
	static const char *const names[] = { "fifo", "link", "with-fifo", "with-link",
					     "with-directory" };
	_cleanup_close_ int fd = open_here();

	put_text(".", "/with-fifo/file", "a");
	put_text(".", "/with-link/file", "a");
	put_text(".", "/with-directory/b/file", "a");
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(mkfifo("with-fifo/fifo", 0600), 0);
	assert_int_equal(symlink("/etc/passwd", "link"), 0);
	assert_int_equal(symlink("/etc/passwd", "with-link/link"), 0);
	alarm(60 * unit_build_factor());
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(copy(fd, names[i]), -EMEDIUMTYPE);
		assert_int_equal(access("to", F_OK), -1);
		assert_int_equal(access(".kymo-to", F_OK), -1);
	}
	alarm(0);
	assert_int_equal(unlink("with-fifo/fifo"), 0);
	assert_int_equal(copy(fd, "with-fifo"), 0);
	assert_int_equal(size_of_file("to/file"), 1);
	assert_int_equal(copy(fd, "with-fifo"), -EEXIST);
}

TEST(test_remove)
{
	_cleanup_close_ int fd = open_here();
	char deep[64] = "/deep";

	put_text(".", "/outside/file", "a");
	put_text(".", "/tree/a/b/c/file", "a");
	put_text(".", "/tree/file", "a");
	assert_int_equal(symlink("../outside", "tree/link"), 0);
	assert_int_equal(ship_copy_remove(fd, "tree"), 0);
	assert_int_equal(access("tree", F_OK), -1);
	assert_int_equal(access("outside/file", F_OK), 0);
	assert_int_equal(ship_copy_remove(fd, "tree"), 0);
	/* The depth is limited. */
	for (int i = 0; i < 20; i++)
		strcat(deep, "/d");
	strcat(deep, "/file");
	put_text(".", deep, "a");
	assert_int_equal(ship_copy_remove(fd, "deep"), -ENOTEMPTY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_only_files, own_directory_set_up,
						own_directory_tear_down),
		cmocka_unit_test_setup_teardown(test_remove, own_directory_set_up,
						own_directory_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
