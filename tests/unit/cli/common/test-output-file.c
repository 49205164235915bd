/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output files of recordings, in the test's own directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/output-file.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/fixtures/said.h"
#include "tests/support/unit.h"

FIXTURE(set_up)
{
	*said = '\0';
	return own_directory_set_up(state);
}

TEST(test_new)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;
	struct stat st;

	assert_int_equal(output_file_open("file", "", false, &o), 0);
	assert_true(o.created);
	assert_false(o.standard);
	assert_string_equal(o.path, "file");
	assert_int_equal(fstat(o.fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(output_file_begin(&o), 0);
	assert_int_equal(write(o.fd, "x", 1), 1);
	output_file_discard_empty(&o);
	assert_int_equal(size_of_file("file"), 1);
	output_file_discard(&o);
	assert_int_equal(size_of_file("file"), -ENOENT);
}

TEST(test_discard_empty)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	assert_int_equal(output_file_open("file", "", false, &o), 0);
	output_file_discard_empty(&o);
	assert_int_equal(size_of_file("file"), -ENOENT);
}

/* A file that has replaced it meanwhile stays. */
TEST(test_discard_replaced)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	assert_int_equal(output_file_open("file", "", false, &o), 0);
	put_text("", "other", "theirs");
	assert_int_equal(rename("other", "file"), 0);
	output_file_discard(&o);
	assert_int_equal(size_of_file("file"), 6);
}

TEST(test_existing)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	put_text("", "file", "before");
	assert_int_equal(output_file_open("file", "", false, &o), -EEXIST);
	assert_string_equal(said, "file exists already; --force replaces it");
	assert_int_equal(o.fd, -1);

	assert_int_equal(output_file_open("file", "", true, &o), 0);
	assert_false(o.created);
	assert_int_equal(fcntl(o.fd, F_GETFL) & O_NONBLOCK, 0);
	/* Nothing is lost before the recording certainly begins. */
	assert_int_equal(size_of_file("file"), 6);
	assert_int_equal(output_file_begin(&o), 0);
	assert_int_equal(size_of_file("file"), 0);
	output_file_discard(&o);
	assert_int_equal(size_of_file("file"), 0);
}

TEST(test_not_possible)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	assert_int_equal(output_file_open(".", "", false, &o), -EISDIR);
	assert_string_equal(said, ". is a directory");
	assert_int_equal(output_file_open("none/file", "", true, &o), -ENOENT);
	assert_string_equal(said, "cannot write none/file: No such file or directory");
}

/* A named pipe is not waited for. Once it has a reader, it is written like any file. */
TEST(test_fifo)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;
	_cleanup_close_ int reader = -1;

	assert_int_equal(mkfifo("file", 0600), 0);
	assert_int_equal(output_file_open("file", "", true, &o), -ENXIO);
	assert_string_equal(said, "cannot write file: it is a pipe without a reader");

	reader = open("file", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(reader >= 0);
	assert_int_equal(output_file_open("file", "", true, &o), 0);
	assert_int_equal(fcntl(o.fd, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(output_file_begin(&o), 0);
}

TEST(test_default_name)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	assert_int_equal(output_file_open(NULL, ".zst", false, &o), 0);
	assert_int_equal(strlen(o.path), strlen("kymo-YYYYMMDD-HHMMSS.fxt.zst"));
	assert_memory_equal(o.path, "kymo-20", 7);
	assert_string_equal(o.path + strlen(o.path) - 8, ".fxt.zst");
	output_file_discard(&o);
	assert_int_equal(size_of_file(o.path), -ENOENT);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, set_up, own_directory_tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_DIRECTORY(test_new),
		IN_DIRECTORY(test_discard_empty),
		IN_DIRECTORY(test_discard_replaced),
		IN_DIRECTORY(test_existing),
		IN_DIRECTORY(test_not_possible),
		IN_DIRECTORY(test_fifo),
		IN_DIRECTORY(test_default_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
