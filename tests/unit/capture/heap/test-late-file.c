/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of ended processes are examined by their paths.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/heap/late-file.h"
#include "capture/probes/allocator-cache.h"
#include "tests/support/unit.h"

enum { PATH_BYTES = 64 };

/* The result tells since when the file has its content, and the content is read once. */
TEST(test_changes)
{
	_cleanup_(allocator_cache_freep) struct allocator_cache *cache = NULL;
	char path[] = "/tmp/kymo-late-file.XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);
	struct {
		struct rec_mapping rec;
		char path[PATH_BYTES];
	} all = { .rec = { .head = { .ts_ns = 77, .size = sizeof(all), .kind = REC_MAPPING } } };
	uint64_t written_ns;
	struct late_file file;
	struct stat st;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	assert_int_equal(allocator_cache_new(LATE_FILE_NS_MAX, &cache), 0);
	all.rec.device = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
	all.rec.inode = st.st_ino;
	snprintf(all.path, sizeof(all.path), "%s", path);
	assert_int_equal(write(fd, "text", 4), 4);
	for (unsigned i = 0; i < 2; i++) {
		file = late_file_examine(cache, &all.rec);
		assert_true(file.is_harmless);
		assert_int_equal(file.inode, st.st_ino);
		assert_int_equal(file.mapped_ns, 77);
		assert_true(file.changed_ns > 0 && file.changed_ns <= file.examined_ns);
		assert_int_equal(allocator_cache_reads(cache), 1);
	}
	/* (the kernel's time of a change is up to 10 ms old) */
	usleep(20000);
	written_ns = clock_boot_ns();
	usleep(20000);
	assert_int_equal(write(fd, "more", 4), 4);
	file = late_file_examine(cache, &all.rec);
	assert_true(file.changed_ns > written_ns);
	assert_int_equal(allocator_cache_reads(cache), 2);

	assert_int_equal(unlink(path), 0);
	file = late_file_examine(cache, &all.rec);
	assert_false(file.is_harmless);
	assert_int_equal(file.inode, st.st_ino);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_changes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
