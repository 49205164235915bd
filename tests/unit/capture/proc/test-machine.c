/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <unistd.h>

#include "capture/proc/machine.h"
#include "tests/support/unit.h"

/* The memory of devices is behind the machine's own, and a zone can be empty. */
TEST(test_memory_end)
{
	static const char text[] = "Node 0, zone      DMA\n"
				   "  pages free     2816\n"
				   "        spanned  4095\n"
				   "        present  3998\n"
				   "  start_pfn:           1\n"
				   "Node 0, zone   Normal\n"
				   "        spanned  1000\n"
				   "      nr_unaccepted 512\n"
				   "  start_pfn:           5000\n"
				   "Node 0, zone  Movable\n"
				   "        spanned  0\n"
				   "Node 1, zone   Normal\n"
				   "        spanned  500\n"
				   "  start_pfn:           4200\n"
				   "Node 1, zone   Device\n"
				   "        spanned  100\n"
				   "  start_pfn:           9000\n";
	char path[] = "/tmp/kymo-zoneinfo-XXXXXX";
	int fd = mkstemp(path);
	bool is_accepted;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(machine_memory_end(path, &is_accepted),
			 6000 * (uint64_t)sysconf(_SC_PAGESIZE));
	assert_false(is_accepted);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(machine_memory_end(path, &is_accepted), 0);
	assert_true(is_accepted);
	close(fd);
	unlink(path);
	assert_int_equal(machine_memory_end(path, &is_accepted), 0);
	assert_false(is_accepted);
}

/* The end is not before the memory that the machine has. */
TEST(test_memory_of_this_machine)
{
	bool is_accepted;
	uint64_t end = machine_memory_end("/proc/zoneinfo", &is_accepted);

	assert_true(end >= (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_end),
		cmocka_unit_test(test_memory_of_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
