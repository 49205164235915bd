/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cleanup.h"
#include "reader/views/latency.h"
#include "tests/support/unit.h"

static void add(struct latency *l, uint64_t ns)
{
	assert_int_equal(latency_add(l, ns), 0);
}

TEST(test_none)
{
	struct latency l = { 0 };

	assert_int_equal(latency_mean_ns(&l), 0);
	assert_int_equal(latency_percentile_ns(&l, 50), 0);
	latency_deinit(&l);
}

/* Times are stored with a precision of 1/16, small ones exactly. */
TEST(test_steps)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		for (unsigned i = 0; i < 3; i++) {
			uint64_t ns = (UINT64_C(1) << bit) - 1 + i;
			_cleanup_(latency_deinit) struct latency l = { 0 };
			uint64_t is;

			add(&l, ns);
			add(&l, UINT64_MAX);
			is = latency_percentile_ns(&l, 50);
			if (ns < 16)
				assert_int_equal(is, ns);
			else
				assert_true((is > ns ? is - ns : ns - is) <= ns / 32 + 1);
			assert_true(l.steps[l.n_steps - 1].step < LATENCY_STEPS);
			assert_true(latency_step_ns(l.steps[0].step) <= ns &&
				    latency_step_ns(l.steps[0].step + 1) > ns);
			assert_int_equal(l.max_ns, UINT64_MAX);
		}
	}
}

/* 1 to 10000 us, in mixed order. */
TEST(test_percentiles)
{
	static const struct {
		double percent;
		uint64_t us;
	} rows[] = { { 1, 100 }, { 10, 1000 }, { 50, 5000 }, { 90, 9000 }, { 99, 9900 } };
	_cleanup_(latency_deinit) struct latency l = { 0 };

	for (uint64_t i = 0; i < 10000; i++)
		add(&l, (i * 7919 % 10000 + 1) * 1000);
	assert_int_equal(l.n, 10000);
	assert_int_equal(latency_mean_ns(&l), 5000500);
	assert_int_equal(l.max_ns, 10000000);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t off = (int64_t)latency_percentile_ns(&l, rows[i].percent) -
			      (int64_t)rows[i].us * 1000;

		assert_true(off <= (int64_t)rows[i].us * 1000 / 25);
		assert_true(-off <= (int64_t)rows[i].us * 1000 / 25);
	}
	/* Rounded values are never above the maximum. */
	assert_int_equal(latency_percentile_ns(&l, 100), 10000000);
	for (uint32_t i = 1; i < l.n_steps; i++)
		assert_true(l.steps[i - 1].step < l.steps[i].step);
	/* Exact at powers of two. */
	assert_int_equal(latency_below(&l, 1 << 20), 1048);
	assert_int_equal(latency_below(&l, 1 << 21), 2097);
	assert_int_equal(latency_below(&l, 0), 0);
	assert_int_equal(latency_below(&l, UINT64_MAX), 10000);
	/* Memory only for times that occurred. */
	assert_true(l.n_steps < 16 * 15);
}

/* Merging gives the same result as counting together. */
TEST(test_merge)
{
	_cleanup_(latency_deinit) struct latency a = { 0 };
	_cleanup_(latency_deinit) struct latency b = { 0 };
	_cleanup_(latency_deinit) struct latency both = { 0 };

	for (uint64_t i = 1; i < 1000; i++) {
		add(i % 3 ? &a : &b, i * i);
		add(&both, i * i);
	}
	assert_int_equal(latency_merge(&a, &b), 0);
	assert_int_equal(a.n, both.n);
	assert_int_equal(a.sum_ns, both.sum_ns);
	assert_int_equal(a.max_ns, both.max_ns);
	assert_int_equal(a.n_steps, both.n_steps);
	assert_memory_equal(a.steps, both.steps, a.n_steps * sizeof(*a.steps));
}

/* Times from damaged files do not wrap. */
TEST(test_much)
{
	_cleanup_(latency_deinit) struct latency l = { 0 };

	add(&l, UINT64_MAX);
	add(&l, UINT64_MAX);
	assert_int_equal(l.sum_ns, UINT64_MAX);
	l.steps[0].count = UINT32_MAX;
	add(&l, UINT64_MAX);
	assert_int_equal(l.steps[0].count, UINT32_MAX);
	assert_int_equal(latency_merge(&l, &l), 0);
	assert_int_equal(l.steps[0].count, UINT32_MAX);
	assert_int_equal(l.sum_ns, UINT64_MAX);
}

TEST(test_table)
{
	struct table t = { 0 };

	assert_int_equal(latency_table_add(&t, 7, 10), 0);
	assert_int_equal(latency_table_add(&t, 7, 12), 0);
	assert_int_equal(latency_table_add(&t, 8, 3), 0);
	assert_int_equal(((struct latency *)table_get(&t, 7))->sum_ns, 22);
	assert_int_equal(((struct latency *)table_get(&t, 8))->n, 1);
	latency_table_deinit(&t);
	assert_null(table_get(&t, 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),        cmocka_unit_test(test_steps),
		cmocka_unit_test(test_percentiles), cmocka_unit_test(test_merge),
		cmocka_unit_test(test_much),        cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
