/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables on disk: found only for the same file, checked when they are read, and bounded.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/unwind/unwind-cache.h"
#include "tests/support/unit.h"

enum { FILE_BYTES = 0x4000, N_ROWS = 400 };

static char directory[64], where[96];

static int setup(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/kymo-test-unwind-cache.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(where, sizeof(where), "%s/unwind", directory);
	setenv("CACHE_DIRECTORY", directory, 1);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

static struct unwind_cache *open_cache(uint64_t bytes_max)
{
	struct unwind_cache *cache = NULL;

	assert_int_equal(unwind_cache_open(bytes_max, &cache), 0);
	return cache;
}

/* A file for a table. */
static int make_file(const char *name)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, FILE_BYTES), 0);
	return fd;
}

/* A later begin of parsing: the file is older than that. */
static uint64_t later_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME) + UINT64_C(1000000000);
}

static struct unwind_row rows[N_ROWS];

static struct unwind_table make_table(void)
{
	struct unwind_table table = { .n_segments = 1, .n_rows = N_ROWS, .rows = rows };

	table.segments[0].offset = table.segments[0].address = 0x1000;
	table.segments[0].size = 0x1000;
	for (unsigned i = 0; i < N_ROWS; i++)
		rows[i] = (struct unwind_row){ i * 4, UNWIND_RULE(UNWIND_SP, 0, (int)(i % 7 + 1)) };
	rows[N_ROWS - 1].rule = UNWIND_RULE(UNWIND_NONE, 0, 0);
	return table;
}

/* The number of files in the cache, and the name of one of them. */
static unsigned count_files(char name[static 256])
{
	DIR *dir = opendir(where);
	struct dirent *found;
	unsigned n = 0;

	assert_non_null(dir);
	while ((found = readdir(dir))) {
		if (found->d_name[0] == '.')
			continue;
		n++;
		strcpy(name, found->d_name);
	}
	closedir(dir);
	return n;
}

TEST(test_same_table)
{
	struct unwind_cache *cache = open_cache(1 << 20), *other = open_cache(1 << 20);
	struct unwind_table table = make_table(), found = { 0 };
	int fd = make_file("program"), fd2 = make_file("library");

	assert_int_equal(unwind_cache_find(cache, fd, &found), -ENOENT);
	assert_int_equal(unwind_cache_put(cache, fd, later_ns(), &table), 0);
	assert_int_equal(unwind_cache_find(other, fd2, &found), -ENOENT);
	assert_int_equal(unwind_cache_find(other, fd, &found), 0);
	assert_int_equal(found.n_rows, table.n_rows);
	assert_memory_equal(found.rows, table.rows, sizeof(rows));
	assert_memory_equal(found.segments, table.segments, sizeof(table.segments));
	unwind_table_deinit(&found);
	close(fd);
	close(fd2);
	unwind_cache_free(other);
	unwind_cache_free(cache);
}

TEST(test_no_rows)
{
	struct unwind_cache *cache = open_cache(1 << 20);
	struct unwind_table table = { 0 }, found = { .n_rows = 1 };
	int fd = make_file("bare");

	assert_int_equal(unwind_cache_put(cache, fd, later_ns(), &table), 0);
	assert_int_equal(unwind_cache_find(cache, fd, &found), 0);
	assert_int_equal(found.n_rows, 0);
	close(fd);
	unwind_cache_free(cache);
}

/* A file that changed, or may have changed while it was parsed, has no table any more. */
TEST(test_changed)
{
	struct unwind_cache *cache = open_cache(1 << 20);
	struct unwind_table table = make_table(), found = { 0 };
	int fd = make_file("program");
	struct stat st, now;
	char name[256];

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(unwind_cache_put(cache, fd,
					  (uint64_t)st.st_ctim.tv_sec * 1000000000 +
						  (uint64_t)st.st_ctim.tv_nsec,
					  &table),
			 0);
	assert_int_equal(count_files(name), 0);
	assert_int_equal(unwind_cache_put(cache, fd, later_ns(), &table), 0);
	assert_int_equal(count_files(name), 1);
	/* (the clock of file systems has a coarse resolution) */
	assert_soon(pwrite(fd, "x", 1, 0) == 1 && fstat(fd, &now) == 0 &&
		    (now.st_ctim.tv_sec != st.st_ctim.tv_sec ||
		     now.st_ctim.tv_nsec != st.st_ctim.tv_nsec));
	assert_int_equal(unwind_cache_find(cache, fd, &found), -ENOENT);
	close(fd);
	unwind_cache_free(cache);
}

static void damage(const char *name, off_t at, uint8_t with, bool cut)
{
	char path[400];
	uint8_t byte;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", where, name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	if (cut) {
		assert_int_equal(ftruncate(fd, at), 0);
	} else {
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= with;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
}

/* With any byte changed, and cut off anywhere, a table is refused and removed. */
TEST(test_damaged)
{
	struct unwind_cache *cache = open_cache(1 << 20);
	struct unwind_table table = make_table(), found = { 0 };
	off_t all = (off_t)(16 + sizeof(table) + sizeof(rows));
	int fd = make_file("program");
	char name[256];

	for (off_t at = 0; at < all; at += 1 + at / 8) {
		for (int cut = 0; cut < 2; cut++) {
			assert_int_equal(unwind_cache_put(cache, fd, later_ns(), &table), 0);
			assert_int_equal(count_files(name), 1);
			damage(name, at, 0x40, cut);
			assert_int_equal(unwind_cache_find(cache, fd, &found), -EBADMSG);
			assert_int_equal(count_files(name), 0);
		}
	}
	close(fd);
	unwind_cache_free(cache);
}

/* The directory stays within its limits. The most recently used files stay. */
TEST(test_bounds)
{
	const uint64_t bytes_max = 64 << 10;
	struct unwind_cache *cache = open_cache(bytes_max);
	struct unwind_table table = make_table(), found = { 0 };
	char name[256];
	int fd = -1;

	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "file-%d", i);
		close_fd(fd);
		fd = make_file(name);
		assert_int_equal(unwind_cache_put(cache, fd, later_ns(), &table), 0);
	}
	assert_in_range(count_files(name), 4, bytes_max / sizeof(rows));
	assert_int_equal(unwind_cache_find(cache, fd, &found), 0);
	unwind_table_deinit(&found);
	close(fd);
	unwind_cache_free(cache);
}

/* A file that other users can write to is refused. */
TEST(test_others)
{
	struct unwind_cache *cache = open_cache(1 << 20);

	unwind_cache_free(cache);
	assert_int_equal(chmod(where, 0777), 0);
	assert_int_equal(unwind_cache_open(1 << 20, &cache), -EPERM);
	setenv("CACHE_DIRECTORY", "/proc/nowhere", 1);
	assert_true(unwind_cache_open(1 << 20, &cache) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same_table, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_others, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
