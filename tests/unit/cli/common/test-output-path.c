/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbolic links at the end of a path, in the test's own directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/common/output-path.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

static void assert_followed(const char *path, int result, const char *place)
{
	_cleanup_free_ char *is = NULL;

	assert_int_equal(output_path_follow(path, &is), result);
	if (place)
		assert_string_equal(is, place);
	else
		assert_null(is);
}

TEST(test_follow)
{
	_cleanup_close_ int fd = -1;
	char path[64];

	put_text("", "file", "text");
	assert_int_equal(mkdir("sub", 0700), 0);
	assert_int_equal(symlink("../second", "sub/first"), 0);
	assert_int_equal(symlink("./file", "second"), 0);
	assert_int_equal(symlink("/dev/null", "device"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(symlink("nothing", "empty"), 0);
	assert_followed("file", 0, "file");
	assert_followed("sub/first", 0, "sub/.././file");
	assert_followed("device", 0, "/dev/null");
	assert_followed("loop", -ELOOP, NULL);
	assert_followed("empty", -ENOENT, NULL);
	assert_followed("none/file", -ENOENT, NULL);
	/* The text of such a link is not a path. */
	fd = open("file", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_followed(path, 1, path);
	assert_int_equal(symlink(path, "open"), 0);
	assert_followed("open", 1, path);
}

/* The rule of fs.protected_symlinks, whatever its value is. */
TEST(test_other_user)
{
	if (geteuid() != 0)
		skip();
	put_text("", "file", "text");
	assert_int_equal(mkdir("shared", 0777), 0);
	assert_int_equal(chmod("shared", 01777), 0);
	assert_int_equal(symlink("../file", "shared/link"), 0);
	assert_int_equal(symlink("shared/link", "mine"), 0);
	assert_followed("shared/link", 0, "shared/../file");

	assert_int_equal(lchown("shared/link", 65534, 65534), 0);
	assert_followed("shared/link", -EPERM, "shared/link");
	assert_followed("mine", -EPERM, "shared/link");
	/* The owner of the directory may have links there. */
	assert_int_equal(chown("shared", 65534, 65534), 0);
	assert_followed("shared/link", 0, "shared/../file");
	/* In other directories, only their owners could have made the link. */
	assert_int_equal(chown("shared", 0, 0), 0);
	assert_int_equal(chmod("shared", 0755), 0);
	assert_followed("shared/link", 0, "shared/../file");
}

/* A directory without permission is not another user's link. */
TEST(test_no_permission)
{
	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdir("closed", 0700), 0);
	put_text("", "closed/file", "text");
	assert_int_equal(chmod(own_directory(), 0755), 0);
	assert_int_equal(seteuid(65534), 0);
	assert_followed("closed/file", -EACCES, NULL);
	assert_int_equal(seteuid(0), 0);
}

#define IN_DIRECTORY(test)                                                                         \
	cmocka_unit_test_setup_teardown(test, own_directory_set_up, own_directory_tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_DIRECTORY(test_follow),
		IN_DIRECTORY(test_other_user),
		IN_DIRECTORY(test_no_permission),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
