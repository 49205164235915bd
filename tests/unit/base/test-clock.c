/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/clock.h"
#include "tests/support/unit.h"

TEST(test_read_ns)
{
	struct timespec ts;
	uint64_t before, now, after;

	before = clock_boot_ns();
	assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &ts), 0);
	after = clock_boot_ns();
	now = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	assert_true(before <= now && now <= after);
}

TEST(test_snapshot)
{
	uint64_t before = clock_boot_ns();
	struct clock_snapshot s = clock_snapshot();

	assert_true(before <= s.boot_ns && s.boot_ns <= clock_boot_ns());
	assert_true(s.mono_ns <= clock_read_ns(CLOCK_MONOTONIC));
	/* Boot time also counts suspended time. Both clocks were read within this test. */
	assert_true(s.mono_ns <= clock_boot_ns());
	assert_true(s.real_ns > s.boot_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_ns),
		cmocka_unit_test(test_snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
