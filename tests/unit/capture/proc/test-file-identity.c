/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identities of files: which mappings in records are of a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/proc/file-identity.h"
#include "tests/support/unit.h"

#define DEVICE(major, minor) ((uint64_t)(major) << 20 | (minor))

TEST(test_is_of)
{
	const struct file_identity file = { .device = DEVICE(8, 1), .inode = 7 };
	const struct file_identity subvolume = { DEVICE(0, 40), 7, .is_anonymous = true };

	assert_true(file_identity_is_of(&file, DEVICE(8, 1), 7));
	assert_false(file_identity_is_of(&file, DEVICE(8, 1), 8));
	assert_false(file_identity_is_of(&file, DEVICE(8, 2), 7));
	/* (an overlayfs above the file has a device of its own) */
	assert_true(file_identity_is_of(&file, DEVICE(0, 40), 7));
	assert_false(file_identity_is_of(&file, DEVICE(0, 40), 8));
	assert_true(file_identity_is_of(&subvolume, DEVICE(0, 41), 7));
	assert_false(file_identity_is_of(&subvolume, DEVICE(0, 41), 8));
}

TEST(test_get)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct file_identity file;
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(file_identity_get(fd, &file), 0);
	assert_int_equal(file.device, DEVICE(major(st.st_dev), minor(st.st_dev)));
	assert_int_equal(file.inode, st.st_ino);
	assert_int_equal(file.is_anonymous, major(st.st_dev) == 0);
	close(fd);
	assert_int_equal(file_identity_get(-1, &file), -EBADF);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_of),
		cmocka_unit_test(test_get),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
