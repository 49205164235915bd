/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files are read once, until they change, or too many other files are read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/probes/allocator-cache.h"
#include "tests/support/unit.h"
#include "tests/support/valgrind.h"

TEST(test_changes)
{
	_cleanup_(allocator_cache_freep) struct allocator_cache *c = NULL;
	_cleanup_close_ int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int fd = memfd_create("text", MFD_CLOEXEC);
	const struct allocator_list *list = NULL, *again = NULL;
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1000 } };

	assert_int_equal(allocator_cache_new(ALLOCATORS_NS_MAX, &c), 0);
	assert_int_equal(allocator_cache_find(c, self, &list), 0);
	assert_int_equal(allocator_cache_find(c, self, &again), 0);
	assert_ptr_equal(list, again);
	assert_int_equal(allocator_cache_reads(c), 1);

	/* no program, which is cached, too */
	assert_int_equal(write(fd, "text", 4), 4);
	assert_int_equal(allocator_cache_find(c, fd, &list), -ENOEXEC);
	assert_int_equal(allocator_cache_find(c, fd, &list), -ENOEXEC);
	assert_int_equal(allocator_cache_reads(c), 2);
	assert_int_equal(write(fd, "more", 4), 4);
	assert_int_equal(allocator_cache_find(c, fd, &list), -ENOEXEC);
	assert_int_equal(allocator_cache_reads(c), 3);
	assert_int_equal(futimens(fd, times), 0);
	assert_int_equal(allocator_cache_find(c, fd, &list), -ENOEXEC);
	assert_int_equal(allocator_cache_find(c, fd, &list), -ENOEXEC);
	assert_int_equal(allocator_cache_reads(c), 4);
	/* errors that do not depend on the file are not cached */
	assert_int_equal(allocator_cache_find(c, -1, &list), -EBADF);
	assert_int_equal(allocator_cache_reads(c), 4);
}

TEST(test_room)
{
	_cleanup_(allocator_cache_freep) struct allocator_cache *c = NULL;
	_cleanup_close_ int kept = memfd_create("kept", MFD_CLOEXEC);
	_cleanup_close_ int fd = memfd_create("text", MFD_CLOEXEC);
	const struct allocator_list *list;

	assert_int_equal(allocator_cache_new(ALLOCATORS_NS_MAX, &c), 0);
	assert_int_equal(write(kept, "k", 1), 1);
	/*
	 * one file that changes each time counts as many files; the other one is used all the time
	 */
	for (int i = 0; i < ALLOCATOR_CACHE_MAX + 8; i++) {
		assert_int_equal(write(fd, "x", 1), 1);
		assert_int_equal(allocator_cache_find(c, fd, &list), -ENOEXEC);
		assert_int_equal(allocator_cache_find(c, kept, &list), -ENOEXEC);
	}
	assert_int_equal(allocator_cache_reads(c), ALLOCATOR_CACHE_MAX + 8 + 1);
	/* the first of them was dropped */
	assert_int_equal(ftruncate(fd, 1), 0);
	assert_int_equal(allocator_cache_find(c, fd, &list), -ENOEXEC);
	assert_int_equal(allocator_cache_reads(c), ALLOCATOR_CACHE_MAX + 8 + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_room),
	};

	if (under_valgrind()) {
		printf("skip: valgrind cannot follow where system calls are forbidden\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
