/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether code of this process has breakpoints: it is what its file has, or not.
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/heap/probe-holder.h"
#include "capture/proc/mappings.h"
#include "tests/support/unit.h"

enum { PAGE = 4096 };

/* Never called. */
__attribute__((noinline, used, aligned(64))) static int target(int a)
{
	return a * a + 1;
}

static int find_offset(const struct rec_mapping *rec, void *userdata)
{
	uint64_t address = (uint64_t)(uintptr_t)target, *offset = userdata;

	if (address >= rec->start && address - rec->start < rec->bytes)
		*offset = address - rec->start + rec->file_offset;
	return 0;
}

/* A byte of the function changes, as by a breakpoint. */
static void change_target(void)
{
	uint8_t *code = (uint8_t *)(uintptr_t)target;
	void *page = (void *)((uintptr_t)code & ~(uintptr_t)(PAGE - 1));

	assert_int_equal(mprotect(page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	*code ^= 0xff;
	assert_int_equal(mprotect(page, 2 * PAGE, PROT_READ | PROT_EXEC), 0);
}

TEST(test_misses)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct allocator_file file = { .fd = fd, .path = "" };
	struct allocator_probe probes[2] = { { 0 } };
	uint64_t offset = 0;
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	file.device = st.st_dev;
	file.inode = st.st_ino;
	mappings_of_process("", (uint32_t)getpid(), find_offset, &offset);
	assert_true(offset > 0);
	probes[0].offset = offset;
	probes[1].offset = offset + 16;
	assert_true(probe_holder_misses(getpid(), &file, probes, 2));
	change_target();
	assert_false(probe_holder_misses(getpid(), &file, probes, 1));
	assert_true(probe_holder_misses(getpid(), &file, probes, 2));
	/* Of a file that the process does not run, nothing is missing; nor of one that is gone. */
	file.inode++;
	assert_false(probe_holder_misses(getpid(), &file, probes, 2));
	file.inode--;
	assert_false(probe_holder_misses(0x3fffffff, &file, probes, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_misses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
