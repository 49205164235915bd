/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that recordings go to, in a directory of the test's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/output-file.h"
#include "cli/verb.h"

static char said[512];

/* In place of kymo.c's. */
void cli_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(said, sizeof(said), format, ap);
	va_end(ap);
}

static char directory[64];

static int set_up(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/kymo-test-output-file.XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	*said = '\0';
	return chdir(directory);
}

static int tear_down(void **state)
{
	(void)state;
	unlink("file");
	unlink("other");
	return chdir("/") < 0 ? -1 : rmdir(directory);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static long size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? -errno : (long)st.st_size;
}

static void test_new(void **state)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;
	struct stat st;

	(void)state;
	assert_int_equal(output_file_open("file", "", false, &o), 0);
	assert_true(o.created);
	assert_false(o.standard);
	assert_string_equal(o.path, "file");
	assert_int_equal(fstat(o.fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(output_file_begin(&o), 0);
	assert_int_equal(write(o.fd, "x", 1), 1);
	output_file_discard_empty(&o);
	assert_int_equal(size_of("file"), 1);
	output_file_discard(&o);
	assert_int_equal(size_of("file"), -ENOENT);
}

static void test_discard_empty(void **state)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	(void)state;
	assert_int_equal(output_file_open("file", "", false, &o), 0);
	output_file_discard_empty(&o);
	assert_int_equal(size_of("file"), -ENOENT);
}

/* What somebody else put in its place stays. */
static void test_discard_replaced(void **state)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	(void)state;
	assert_int_equal(output_file_open("file", "", false, &o), 0);
	put("other", "theirs");
	assert_int_equal(rename("other", "file"), 0);
	output_file_discard(&o);
	assert_int_equal(size_of("file"), 6);
}

static void test_existing(void **state)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	(void)state;
	put("file", "before");
	assert_int_equal(output_file_open("file", "", false, &o), -EEXIST);
	assert_string_equal(said, "file exists already; --force writes over it");
	assert_int_equal(o.fd, -1);

	assert_int_equal(output_file_open("file", "", true, &o), 0);
	assert_false(o.created);
	assert_int_equal(fcntl(o.fd, F_GETFL) & O_NONBLOCK, 0);
	/* Nothing is lost before the recording is sure to begin. */
	assert_int_equal(size_of("file"), 6);
	assert_int_equal(output_file_begin(&o), 0);
	assert_int_equal(size_of("file"), 0);
	output_file_discard(&o);
	assert_int_equal(size_of("file"), 0);
}

static void test_not_possible(void **state)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	(void)state;
	assert_int_equal(output_file_open(".", "", false, &o), -EISDIR);
	assert_string_equal(said, ". is a directory");
	assert_int_equal(output_file_open("none/file", "", true, &o), -ENOENT);
	assert_string_equal(said, "cannot write none/file: No such file or directory");
}

/* A named pipe is not waited for, but written as any other once somebody reads it. */
static void test_fifo(void **state)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;
	_cleanup_close_ int reader = -1;

	(void)state;
	assert_int_equal(mkfifo("file", 0600), 0);
	assert_int_equal(output_file_open("file", "", true, &o), -ENXIO);
	assert_string_equal(said, "cannot write file: it is a pipe that nobody reads");

	reader = open("file", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(reader >= 0);
	assert_int_equal(output_file_open("file", "", true, &o), 0);
	assert_int_equal(fcntl(o.fd, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(output_file_begin(&o), 0);
}

static void test_default_name(void **state)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	(void)state;
	assert_int_equal(output_file_open(NULL, ".zst", false, &o), 0);
	assert_int_equal(strlen(o.path), strlen("kymo-YYYYMMDD-HHMMSS.fxt.zst"));
	assert_memory_equal(o.path, "kymo-20", 7);
	assert_string_equal(o.path + strlen(o.path) - 8, ".fxt.zst");
	output_file_discard(&o);
	assert_int_equal(size_of(o.path), -ENOENT);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

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
