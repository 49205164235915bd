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
	why_reclaims_finish(&r, 1000);
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
	struct why_reclaims r = { 0 };

	add(&r, 1, 50, END);
	add(&r, 1, 100, BEGIN);
	add(&r, 1, 200, BEGIN);
	add(&r, 1, 210, END);
	add(&r, 1, 300, BEGIN);
	add(&r, 0, 300, BEGIN);
	why_reclaims_finish(&r, 400);
	assert_int_equal(why_reclaims_overlap(&r, 1, 0, 1000), 110);
	assert_null(why_reclaims_find(&r, 1, 150));
	assert_non_null(why_reclaims_find(&r, 1, 350));
	why_reclaims_deinit(&r);
}

/* Without the ends of a pair, or without its begins, no time of it is known. */
TEST(test_one_half)
{
	struct why_reclaims r = { 0 };
	struct why_reclaims_half half;

	add(&r, 1, 100, BEGIN);
	add(&r, 1, 120, BEGIN);
	add(&r, 2, 200, "compaction:mm_compaction_end");
	add(&r, 2, 210, "compaction:mm_compaction_end");
	add(&r, 1, 300, "vmscan:mm_vmscan_memcg_reclaim_begin");
	add(&r, 1, 310, "vmscan:mm_vmscan_memcg_reclaim_end");
	why_reclaims_finish(&r, 1000);
	assert_null(why_reclaims_find(&r, 1, 150));
	assert_int_equal(why_reclaims_overlap(&r, 1, 0, 1000), 10);
	assert_true(why_reclaims_half(&r, 0, &half));
	assert_string_equal(half.what, "direct reclaim");
	assert_true(half.begins && half.certain);
	assert_false(why_reclaims_half(&r, 1, &half));
	assert_true(why_reclaims_half(&r, 2, &half));
	assert_string_equal(half.what, "compaction");
	assert_true(!half.begins && half.certain);
	why_reclaims_deinit(&r);
}

static void lose(struct why_reclaims *r, uint64_t first_ns, uint64_t last_ns, const char *class);

/*
 * If no thread has two begins in succession, all of them may last until the end. If none has two
 * ends in succession, all of them may have begun before the recording. A loss explains two of them,
 * too.
 */
TEST(test_one_half_perhaps)
{
	struct why_reclaims r = { 0 };
	struct why_reclaims_half half;

	add(&r, 1, 100, BEGIN);
	add(&r, 2, 110, BEGIN);
	add(&r, 1, 200, "compaction:mm_compaction_end");
	add(&r, 2, 210, "compaction:mm_compaction_end");
	assert_true(why_reclaims_half(&r, 0, &half));
	assert_true(half.begins && !half.certain);
	assert_true(why_reclaims_half(&r, 2, &half));
	assert_true(!half.begins && !half.certain);
	add(&r, 1, 300, BEGIN);
	assert_true(why_reclaims_half(&r, 0, &half));
	assert_true(half.certain);
	lose(&r, 250, 260, "tracepoints");
	assert_true(why_reclaims_half(&r, 0, &half));
	assert_false(half.certain);
	why_reclaims_finish(&r, 1000);
	why_reclaims_deinit(&r);
}

/* The end of one pair does not end another pair, nor one of another thread. */
TEST(test_other_pair)
{
	struct why_reclaims r = { 0 };

	add(&r, 1, 100, BEGIN);
	add(&r, 1, 110, "compaction:mm_compaction_end");
	add(&r, 2, 120, END);
	add(&r, 1, 150, END);
	add(&r, 1, 200, "compaction:mm_compaction_begin");
	add(&r, 1, 220, BEGIN);
	add(&r, 1, 230, "compaction:mm_compaction_end");
	add(&r, 1, 250, END);
	add(&r, 1, 300, BEGIN);
	add(&r, 1, 310, "compaction:mm_compaction_begin");
	add(&r, 1, 320, "compaction:mm_compaction_end");
	add(&r, 1, 330, END);
	why_reclaims_finish(&r, 1000);
	assert_int_equal(why_reclaims_overlap(&r, 1, 0, 180), 50);
	assert_string_equal(why_reclaims_find(&r, 1, 225)->what, "compaction");
	assert_string_equal(why_reclaims_find(&r, 1, 240)->what, "direct reclaim");
	assert_int_equal(why_reclaims_overlap(&r, 1, 200, 280), 50);
	/* (one in the other counts once) */
	assert_string_equal(why_reclaims_find(&r, 1, 315)->what, "direct reclaim");
	assert_int_equal(why_reclaims_overlap(&r, 1, 300, 400), 30);
	why_reclaims_deinit(&r);
}

static void lose(struct why_reclaims *r, uint64_t first_ns, uint64_t last_ns, const char *class)
{
	const struct event ev = { .kind = EVENT_LOST,
				  .ts_ns = first_ns,
				  .lost = { .class_name = class,
					    .count = 2,
					    .first_ns = first_ns,
					    .last_ns = last_ns } };

	assert_int_equal(why_reclaims_add(r, &ev), 0);
}

/*
 * The end of the first one and the begin of another one can be among the lost records. This also
 * holds if the loss is known only after the end, and for those that last until the end.
 */
TEST(test_losses)
{
	const struct event damage = { .kind = EVENT_DAMAGE };
	struct why_reclaims r = { 0 };

	add(&r, 1, 100, BEGIN);
	add(&r, 1, 200, END);
	add(&r, 1, 210, BEGIN);
	add(&r, 1, 220, END);
	add(&r, 1, 230, BEGIN);
	add(&r, 1, 270, END);
	add(&r, 2, 245, BEGIN);
	add(&r, 1, 300, BEGIN);
	lose(&r, 240, 250, "tracepoints");
	lose(&r, 110, 190, "tracepoints");
	lose(&r, 120, 130, "tracepoints");
	lose(&r, 215, 218, "sched");
	add(&r, 3, 310, BEGIN);
	add(&r, 5, 310, BEGIN);
	add(&r, 5, 320, END);
	assert_int_equal(why_reclaims_add(&r, &damage), 0);
	add(&r, 3, 350, END);
	add(&r, 4, 360, BEGIN);
	why_reclaims_finish(&r, 400);
	assert_int_equal(why_reclaims_overlap(&r, 1, 0, 1000), 10);
	assert_int_equal(why_reclaims_overlap(&r, 2, 0, 1000), 0);
	assert_int_equal(why_reclaims_overlap(&r, 3, 0, 1000), 0);
	assert_int_equal(why_reclaims_overlap(&r, 4, 0, 1000), 40);
	assert_int_equal(why_reclaims_overlap(&r, 5, 0, 1000), 10);
	why_reclaims_deinit(&r);
}

/* After a pause, nothing is known about those that began before it. */
TEST(test_pauses)
{
	struct why_reclaims r = { 0 };

	assert_int_equal(why_reclaims_pause(&r, 0, false, 90), 0);
	add(&r, 1, 100, BEGIN);
	add(&r, 2, 100, BEGIN);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(why_reclaims_pause(&r, 150, true, 150 + i), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(why_reclaims_pause(&r, 150, false, 202 + i), 0);
	add(&r, 1, 210, END);
	add(&r, 1, 220, BEGIN);
	add(&r, 1, 250, END);
	/* (at the end of the pause) */
	add(&r, 5, 202, BEGIN);
	add(&r, 5, 205, END);
	/* Another session follows, without an event between them. */
	add(&r, 3, 260, BEGIN);
	assert_int_equal(why_reclaims_pause(&r, 270, false, 300), 0);
	add(&r, 4, 310, BEGIN);
	assert_int_equal(why_reclaims_pause(&r, 350, true, 350), 0);
	assert_int_equal(r.pauses.n, 3);
	why_reclaims_finish(&r, 400);
	assert_int_equal(why_reclaims_overlap(&r, 1, 0, 1000), 80);
	assert_int_equal(why_reclaims_overlap(&r, 2, 0, 1000), 50);
	assert_int_equal(why_reclaims_overlap(&r, 3, 0, 1000), 10);
	assert_int_equal(why_reclaims_overlap(&r, 4, 0, 1000), 40);
	assert_int_equal(why_reclaims_overlap(&r, 5, 0, 1000), 3);
	why_reclaims_deinit(&r);
}

/* The next part of a recording follows directly, while another recording pauses. */
TEST(test_empty_pause)
{
	struct why_reclaims r = { 0 };

	add(&r, 1, 100, BEGIN);
	assert_int_equal(why_reclaims_pause(&r, 150, false, 150), 0);
	add(&r, 1, 200, END);
	add(&r, 2, 220, BEGIN);
	assert_int_equal(why_reclaims_pause(&r, 250, true, 250), 0);
	assert_int_equal(why_reclaims_pause(&r, 250, false, 250), 0);
	add(&r, 2, 300, END);
	why_reclaims_finish(&r, 400);
	assert_int_equal(why_reclaims_overlap(&r, 1, 0, 1000), 100);
	assert_int_equal(why_reclaims_overlap(&r, 2, 0, 1000), 80);
	why_reclaims_deinit(&r);
}

/* Without all of them, nothing is claimed. */
TEST(test_dropped)
{
	struct why_reclaims r = { 0 };

	add(&r, 1, 100, BEGIN);
	add(&r, 1, 200, END);
	why_reclaims_finish(&r, 400);
	r.n_dropped = 1;
	assert_null(why_reclaims_find(&r, 1, 150));
	assert_int_equal(why_reclaims_overlap(&r, 1, 0, 1000), 0);
	why_reclaims_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),       cmocka_unit_test(test_halves),
		cmocka_unit_test(test_one_half),    cmocka_unit_test(test_one_half_perhaps),
		cmocka_unit_test(test_other_pair),  cmocka_unit_test(test_losses),
		cmocka_unit_test(test_pauses),      cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_empty_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
