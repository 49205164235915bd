/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of chunks, also of a directory that cannot be read to its end.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "capture/store/chunk-list.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

#define FIRST  "a-20261130T030100.000000Z-20261130T030159.000000Z.fxt"
#define SECOND "a-20261130T030200.000000Z-20261130T030259.000000Z.fxt.zst"

static bool is_broken; /* the directory ends with EIO */

/* Instead of that of the C library. */
struct dirent *readdir(DIR *dir)
{
	static struct dirent *(*real)(DIR * dir);
	struct dirent *entry;

	if (!real)
		real = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
	entry = real(dir);
	if (!entry && is_broken)
		errno = EIO;
	return entry;
}

TEST(test_list)
{
	_cleanup_close_ int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ struct chunk *chunks = NULL;
	size_t n;

	put_text(".", "/" SECOND, "123");
	put_text(".", "/" FIRST, "12345");
	put_text(".", "/.a-20261130T030300.000000Z.part", "1");
	put_text(".", "/b-20261130T030100.000000Z-20261130T030159.000000Z.fxt", "1");
	assert_int_equal(mkdir("a-20261130T030500.000000Z-20261130T030559.000000Z.fxt", 0700), 0);
	assert_int_equal(
		symlink("nowhere", "a-20261130T030600.000000Z-20261130T030659.000000Z.fxt"), 0);
	assert_int_equal(chunk_list_read(fd, "a", CHUNK_LIST_WHOLE, &chunks, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(chunks[0].file, FIRST);
	assert_int_equal(chunks[0].bytes, 5);
	assert_string_equal(chunks[1].file, SECOND);
	assert_int_equal(chunks[1].bytes, 3);
}

/* A part of the list is not returned. */
TEST(test_unreadable_directory)
{
	_cleanup_close_ int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct chunk *chunks = NULL;
	size_t n;

	put_text(".", "/" FIRST, "12345");
	is_broken = true;
	assert_int_equal(chunk_list_read(fd, "a", CHUNK_LIST_WHOLE, &chunks, &n), -EIO);
	assert_null(chunks);
	assert_int_equal(chunk_list_read(fd, "a", CHUNK_LIST_READABLE, &chunks, &n), 0);
	is_broken = false;
	free(chunks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_unreadable_directory),
	};

	return cmocka_run_group_tests(tests, own_directory_set_up, own_directory_tear_down);
}
