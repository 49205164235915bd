/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-listed.h"
#include "tests/support/unit.h"

#define SECOND_NS UINT64_C(1000000000)

TEST(test_once_per_second)
{
	struct unwind_listed l = { 0 };

	(void)state;
	for (uint64_t second = 1; second <= 3; second++)
		for (uint32_t pid = 0; pid < 100; pid++)
			for (uint64_t i = 0; i < 5; i++)
				assert_int_equal(unwind_listed_begin(&l, pid,
								     second * SECOND_NS + i),
						 i == 0);
	assert_true(l.processes.n_used <= 100);
	unwind_listed_deinit(&l);
}

/* Rings are drained one after another, so a record can be older than the one before. */
TEST(test_older_record)
{
	struct unwind_listed l = { 0 };

	(void)state;
	assert_true(unwind_listed_begin(&l, 7, 2 * SECOND_NS));
	assert_true(unwind_listed_begin(&l, 8, SECOND_NS));
	assert_false(unwind_listed_begin(&l, 7, SECOND_NS));
	assert_false(unwind_listed_begin(&l, 8, 2 * SECOND_NS));
	unwind_listed_deinit(&l);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once_per_second),
		cmocka_unit_test(test_older_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
