/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lint and the order of the file: its findings do not depend on the order of records within its
 * window, and it guesses nothing beyond it.
 */
#include <string.h>

#include "base/cleanup.h"
#include "reader/fxt/fxt-lint.h"
#include "tests/support/fixtures/lint-build.h"
#include "tests/support/unit.h"

/* A turn of thread 11 or 12 on a CPU: a wakeup and two switches, three records. */
static void turn(struct build *b, uint64_t i, bool with_wakeup)
{
	uint64_t tid = 11 + i % 2, ts = 1000 + 100 * i;

	if (with_wakeup)
		build_wakeup(b, ts, tid);
	build_switch(b, ts + 10, (uint32_t)i % 2, 0, tid);
	build_switch(b, ts + 20, (uint32_t)i % 2, tid, 0);
}

static void assert_clean(const struct lint_tally *t)
{
	for (unsigned i = 0; i < FXT_FINDING_MAX; i++)
		if (t->n[i] > 0 && fxt_finding_kinds[i].severity != FXT_SEVERITY_NOTE)
			fail_msg("%s", fxt_finding_kinds[i].id);
}

static size_t forwards(size_t i, size_t n)
{
	(void)n;
	return i;
}

static size_t backwards(size_t i, size_t n)
{
	return n - 1 - i;
}

/* 7919 is prime and divides none of the numbers of turns. */
static size_t shuffled(size_t i, size_t n)
{
	return i * 7919 % n;
}

/* One half after the other, as from two buffers. */
static size_t halves(size_t i, size_t n)
{
	return i < n / 2 ? 2 * i : 2 * (i - n / 2) + 1;
}

/*
 * Lints N turns in the order of ORDER, with an odd wakeup at their end. If there are more turns
 * than fit into the window, there are no wakeups: otherwise, the window would end in the middle of
 * a turn.
 */
static void lint_turns(size_t n, size_t (*order)(size_t i, size_t n), struct lint_tally *ret)
{
	struct build b;

	build_begin(&b, false);
	for (size_t i = 0; i < n; i++)
		turn(&b, order(i, n), n <= FXT_LINT_WINDOW / 3 || order == forwards);
	build_wakeup(&b, 1000 + 100 * n, 11);
	build_wakeup(&b, 1001 + 100 * n, 11);
	build_lint(&b, ret);
	build_deinit(&b);
}

TEST(test_within_the_window)
{
	static size_t (*const orders[])(size_t, size_t) = { forwards, backwards, shuffled, halves };
	static const size_t sizes[] = { 10, 1000, FXT_LINT_WINDOW / 3 };

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
		for (size_t j = 0; j < ARRAY_SIZE(sizes); j++) {
			struct lint_tally t;

			lint_turns(sizes[j], orders[i], &t);
			assert_int_equal(t.n[FXT_FINDING_WAKE_TWICE], 1);
			assert_int_equal(t.not_judged, 0);
			t.n[FXT_FINDING_WAKE_TWICE] = t.n[FXT_FINDING_SCHED_UNSORTED] = 0;
			t.n[FXT_FINDING_WAKE_LATE] = 0;
			assert_clean(&t);
		}
}

/* A long archive in order is checked to its end. */
TEST(test_beyond_the_window)
{
	struct lint_tally t;

	lint_turns(FXT_LINT_WINDOW, forwards, &t);
	assert_int_equal(t.not_judged, 0);
	assert_int_equal(t.n[FXT_FINDING_WAKE_TWICE], 1);
	t.n[FXT_FINDING_WAKE_TWICE] = 0;
	assert_clean(&t);
}

/* Records that come too late are not judged, and give no wrong findings. */
TEST(test_too_late)
{
	struct lint_tally t;

	lint_turns((size_t)3 * FXT_LINT_WINDOW, backwards, &t);
	assert_true(t.not_judged > 0);
	assert_int_equal(t.n[FXT_FINDING_WAKE_TWICE], 1);
	t.n[FXT_FINDING_WAKE_TWICE] = t.n[FXT_FINDING_SCHED_UNSORTED] = 0;
	t.n[FXT_FINDING_WAKE_LATE] = 0;
	assert_clean(&t);
}

/* A long duration is written when it ends, after everything that it contains. */
TEST(test_late_duration)
{
	struct lint_tally t;
	struct build b;

	build_begin(&b, false);
	for (uint64_t i = 0; i < 3 * FXT_LINT_WINDOW; i++)
		build_event(&b, FXT_EVENT_DURATION_COMPLETE, 10 * i + 10, 10, "short", 10 * i + 20);
	build_event(&b, FXT_EVENT_DURATION_COMPLETE, 5, 10, "long", 40 * FXT_LINT_WINDOW);
	build_lint(&b, &t);
	build_deinit(&b);
	assert_clean(&t);
	assert_int_equal(t.not_judged, 1);
}

/* At equal times, the order of the file counts, also if everything must be sorted. */
TEST(test_equal_times)
{
	struct lint_tally t;
	struct build b;

	build_begin(&b, false);
	for (uint64_t i = 2000; i > 0; i--) {
		build_wakeup(&b, 100 * i, 11);
		build_switch(&b, 100 * i, 0, 0, 11);
		build_switch(&b, 100 * i, 0, 11, 0);
	}
	build_lint(&b, &t);
	build_deinit(&b);
	assert_clean(&t);
}

/* After lost records, a thread may have run between two wakeups. */
TEST(test_lost_between_wakeups)
{
	struct lint_tally t;
	struct build b;

	build_begin(&b, false);
	build_wakeup(&b, 100, 11);
	OK(fxt_write_provider_event(&b.w, FXT_PROVIDER_EVENT_BUFFER_FILLED));
	build_event(&b, FXT_EVENT_INSTANT, 150, 10, "lost", 0);
	build_wakeup(&b, 200, 11);
	build_lint(&b, &t);
	build_deinit(&b);
	assert_clean(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_within_the_window),
		cmocka_unit_test(test_beyond_the_window),
		cmocka_unit_test(test_too_late),
		cmocka_unit_test(test_late_duration),
		cmocka_unit_test(test_equal_times),
		cmocka_unit_test(test_lost_between_wakeups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
