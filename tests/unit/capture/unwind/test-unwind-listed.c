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

/* The number of processes that are listed at NOW_NS. */
static unsigned n_listed(struct unwind_listed *l, uint64_t now_ns)
{
	unsigned n = 0;
	uint32_t pid;

	for (; (pid = unwind_listed_next(l, now_ns)); n++)
		unwind_listed_done(l, pid);
	return n;
}

/* Each file that a process maps after a list has a list that comes after it. */
TEST(test_due)
{
	struct unwind_listed l = { 0 };

	for (unsigned drain = 0; drain < 10; drain++) {
		for (unsigned i = 0; i < 5; i++)
			unwind_listed_add(&l, 7);
		assert_int_equal(n_listed(&l, SECOND_NS + drain), drain < UNWIND_LISTS_MAX);
	}
	/* another process is not affected */
	unwind_listed_add(&l, 8);
	assert_int_equal(unwind_listed_next(&l, SECOND_NS), 8);
	assert_int_equal(n_listed(&l, SECOND_NS), 1);
	/* a list that fails does not count */
	for (unsigned i = 0; i <= UNWIND_LISTS_MAX; i++)
		assert_int_equal(unwind_listed_next(&l, 2 * SECOND_NS), 7);
	assert_int_equal(n_listed(&l, 2 * SECOND_NS), 1);
	assert_int_equal(n_listed(&l, 3 * SECOND_NS), 0);
	for (uint32_t pid = 1; pid <= 1000; pid++)
		unwind_listed_add(&l, pid);
	assert_int_equal(n_listed(&l, 4 * SECOND_NS), 1000);
	unwind_listed_deinit(&l);
}

/* Lists of another program of the process, or of another process with its id, do not count. */
TEST(test_another_program)
{
	struct unwind_listed l = { 0 };

	for (unsigned i = 0; i < UNWIND_LISTS_MAX; i++) {
		unwind_listed_add(&l, 7);
		assert_int_equal(n_listed(&l, SECOND_NS), 1);
	}
	unwind_listed_add(&l, 7);
	assert_int_equal(n_listed(&l, SECOND_NS), 0);
	/* (it can be due because of the other program, whose records do not come in order) */
	unwind_listed_forget(&l, 7);
	assert_int_equal(n_listed(&l, SECOND_NS), 1);
	assert_int_equal(n_listed(&l, SECOND_NS), 0);
	assert_false(unwind_listed_begin(&l, 7, SECOND_NS));
	unwind_listed_forget(&l, 7);
	assert_true(unwind_listed_begin(&l, 7, SECOND_NS));
	unwind_listed_deinit(&l);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once_per_second),
		cmocka_unit_test(test_older_record),
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_another_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
