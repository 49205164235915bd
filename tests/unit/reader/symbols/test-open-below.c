/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "reader/symbols/open-below.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/kymo-test-open-below.XXXXXX";
static int root_fd = -1;

FIXTURE(set_up)
{
	char command[512];

	if (!mkdtemp(dir))
		return -1;
	snprintf(
		command, sizeof(command),
		"cd %s && echo outside >file && mkdir -p root/a/b && cd root && echo inside >file && "
		"echo deep >a/b/file && ln -s /file absolute && ln -s ../../../../file up && "
		"ln -s b a/c && ln -s a/c chain && ln -s loop loop && mkfifo fifo && "
		"ln -s /proc/kmsg kmsg && ln -s a directory",
		dir);
	if (system(command) != 0)
		return -1;
	snprintf(command, sizeof(command), "%s/root", dir);
	root_fd = open(command, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root_fd < 0 ? -1 : 0;
}

FIXTURE(tear_down)
{
	char command[128];

	close(root_fd);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

TEST(test_open_below)
{
	static const struct {
		const char *path, *content;
		int error;
	} rows[] = {
		{ "/file", "inside", 0 },
		{ "file", "inside", 0 },
		{ "//file", "inside", 0 },
		{ "/a/b/file", "deep", 0 },
		{ "/a/./b/../b//file", "deep", 0 },
		{ "/a/c/file", "deep", 0 },
		{ "/chain/file", "deep", 0 },
		{ "/directory/b/file", "deep", 0 },
		{ "/a/c/../../file", "inside", 0 },
		/* Never outside of the directory. */
		{ "/absolute", "inside", 0 },
		{ "/up", "inside", 0 },
		{ "/../../file", "inside", 0 },
		{ "/a/../../../file", "inside", 0 },
		/* Nothing to open. */
		{ "/none", NULL, -ENOENT },
		{ "/none/../file", NULL, -ENOENT },
		{ "/file/x", NULL, -ENOTDIR },
		{ "/loop", NULL, -ELOOP },
		{ "/loop/x", NULL, -ELOOP },
		{ "/fifo", NULL, -EINVAL },
		{ "/kmsg", NULL, -ENOENT },
		{ "/a", NULL, -EISDIR },
		{ "/directory", NULL, -EISDIR },
		{ "/", NULL, -EISDIR },
		{ "", NULL, -EISDIR },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char content[64] = "";
		int fd = open_below(root_fd, rows[i].path);

		if (!rows[i].content) {
			assert_int_equal(fd, rows[i].error);
			continue;
		}
		assert_true(fd >= 0);
		assert_true(read(fd, content, sizeof(content) - 1) > 0);
		content[strcspn(content, "\n")] = '\0';
		assert_string_equal(content, rows[i].content);
		close(fd);
	}
}

/* The path of a file without links, which means the same file without that root. */
TEST(test_open_below_find)
{
	static const char *const rows[][2] = {
		{ "file", "/file" },
		{ "//file", "/file" },
		{ "/a/./b/../b//file", "/a/b/file" },
		{ "/chain/file", "/a/b/file" },
		{ "/directory/c/file", "/a/b/file" },
		{ "/a/c/../../file", "/file" },
		{ "/absolute", "/file" },
		{ "/a/b/../../up", "/file" },
	};
	char found[PATH_MAX] = "";

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_close_ int fd = open_below_find(root_fd, rows[i][0], found);

		assert_true(fd >= 0);
		assert_string_equal(found, rows[i][1]);
	}
	assert_int_equal(open_below_find(root_fd, "/a/none", found), -ENOENT);
	assert_string_equal(found, "/file");
}

/* Special files: reading them would wait, or have effects. */
TEST(test_open_below_special)
{
	static const char *const rows[] = { "/proc/kmsg", "/proc/self/maps", "/sys/kernel/notes",
					    "/dev/null", "/dev/zero" };
	_cleanup_close_ int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (access(rows[i], F_OK) == 0)
			assert_int_equal(open_below(fd, rows[i]), -EINVAL);
}

TEST(test_open_below_long)
{
	char path[8192];

	memset(path, 'a', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(open_below(root_fd, path), -ENAMETOOLONG);
	path[300] = '\0';
	assert_int_equal(open_below(root_fd, path), -ENAMETOOLONG);
	/* Into directories and out of them again, more often than the limit of open files. */
	path[0] = '\0';
	for (unsigned int i = 0; i < 400; i++)
		strcat(path, "/a/..");
	strcat(path, "/file");
	_cleanup_close_ int fd = open_below(root_fd, path);

	assert_true(fd >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_below),
		cmocka_unit_test(test_open_below_find),
		cmocka_unit_test(test_open_below_special),
		cmocka_unit_test(test_open_below_long),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
