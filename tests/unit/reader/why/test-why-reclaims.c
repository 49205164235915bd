/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/why/why-reclaims.h"
#include "tests/support/unit.h"

static void add(struct why_reclaims *r, uint32_t tid, uint64_t at_ns, const char *name)
{
	const struct event ev = {
		.kind = EVENT_TRACEPOINT, .ts_ns = at_ns, .tid = tid, .tracepoint.name = name
	};

	assert_int_equal(why_reclaims_add(r, &ev), 0);
}

#define BEGIN "vmscan:mm_vmscan_direct_reclaim_begin"
#define END   "vmscan:mm_vmscan_direct_reclaim_end"

TEST(test_times)
{
	struct why_reclaims r = { 0 };

	add(&r, 2, 100, BEGIN);
	add(&r, 1, 110, "compaction:mm_compaction_begin");
	add(&r, 1, 120, "sched:sched_process_exec");
	add(&r, 2, 150, END);
	add(&r, 1, 160, "compaction:mm_compaction_end");
	add(&r, 2, 200, BEGIN);
	add(&r, 2, 250, END);
	why_reclaims_finish(&r, 1000, false);
	assert_null(why_reclaims_find(&r, 2, 99));
	assert_string_equal(why_reclaims_find(&r, 2, 100)->what, "direct reclaim");
	assert_null(why_reclaims_find(&r, 2, 150));
	assert_string_equal(why_reclaims_find(&r, 1, 159)->what, "compaction");
	assert_null(why_reclaims_find(&r, 3, 120));
	assert_int_equal(why_reclaims_overlap(&r, 2, 0, 1000), 100);
	assert_int_equal(why_reclaims_overlap(&r, 2, 140, 210), 20);
	assert_int_equal(why_reclaims_overlap(&r, 2, 150, 200), 0);
	assert_int_equal(why_reclaims_overlap(&r, 1, 0, 115), 5);
	why_reclaims_deinit(&r);
}

/* An end without a begin, a begin without an end, and those that last until the end. */
TEST(test_halves)
{
	for (int lost = 0; lost < 2; lost++) {
		struct why_reclaims r = { 0 };

		add(&r, 1, 50, END);
		add(&r, 1, 100, BEGIN);
		add(&r, 1, 200, BEGIN);
		add(&r, 1, 210, END);
		add(&r, 1, 300, BEGIN);
		add(&r, 0, 300, BEGIN);
		why_reclaims_finish(&r, 400, lost);
		assert_int_equal(why_reclaims_overlap(&r, 1, 0, 1000), lost ? 10 : 110);
		assert_null(why_reclaims_find(&r, 1, 150));
		assert_int_equal(why_reclaims_find(&r, 1, 350) != NULL, !lost);
		why_reclaims_deinit(&r);
	}
}

/* Without all of them, nothing is claimed. */
TEST(test_dropped)
{
	struct why_reclaims r = { 0 };

	add(&r, 1, 100, BEGIN);
	add(&r, 1, 200, END);
	why_reclaims_finish(&r, 400, false);
	r.n_dropped = 1;
	assert_null(why_reclaims_find(&r, 1, 150));
	assert_int_equal(why_reclaims_overlap(&r, 1, 0, 1000), 0);
	why_reclaims_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_halves),
		cmocka_unit_test(test_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
