/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/views/leak-verdict.h"
#include "tests/support/unit.h"

#define S UINT64_C(1000000000)

static struct leak_growth finish(struct leak_trend *t, uint64_t age_ns, uint64_t looked_ns)
{
	struct leak_growth g;

	leak_trend_finish(t, age_ns, looked_ns, &g);
	return g;
}

/* ---- trends ---- */

TEST(test_trend_of_a_leak)
{
	struct leak_trend t = { 0 };
	struct leak_growth g;

	for (uint64_t i = 1; i <= 60; i++)
		leak_trend_set(&t, i * S - 1, 100 * i);
	g = finish(&t, 60 * S, 0);
	/* 100 ms, doubled until 60 s fit into 32 of them */
	assert_int_equal(g.window_ns, 3200000000);
	assert_int_equal(g.windows, 19);
	assert_int_equal(g.grew, 19);
	assert_int_equal(g.fell, 0);
	assert_int_equal(g.quarters, 4);
	assert_true(fabs(g.per_second - 100) < 2);
	assert_true(leak_growth_is_steady(&g));
}

/* One block each ten seconds: few windows contain one, but the trend is found. */
TEST(test_trend_of_a_slow_leak)
{
	struct leak_trend t = { 0 };
	struct leak_growth g;

	for (uint64_t i = 1; i <= 6; i++)
		leak_trend_set(&t, i * 10 * S - 1, 64 * i);
	g = finish(&t, 60 * S, 0);
	assert_int_equal(g.grew, 6);
	assert_true(leak_growth_is_steady(&g));
}

TEST(test_trend_of_what_is_no_leak)
{
	struct leak_trend full = { 0 }, saw = { 0 }, once = { 0 };
	struct leak_growth g;

	/* a cache that fills up */
	for (uint64_t i = 0; i < 100; i++)
		leak_trend_set(&full, i * S / 2, i < 20 ? 10 * i : 200);
	g = finish(&full, 50 * S, 0);
	assert_true(g.grew >= 3);
	assert_true(g.quarters <= 2);
	assert_false(leak_growth_is_steady(&g));
	/* a queue that is emptied now and then */
	for (uint64_t i = 0; i < 100; i++)
		leak_trend_set(&saw, i * S / 2, 10 * (i % 7));
	g = finish(&saw, 50 * S, 0);
	assert_true(g.fell > 0);
	assert_false(leak_growth_is_steady(&g));
	/* blocks from the start */
	leak_trend_set(&once, 1000, 4096);
	g = finish(&once, 50 * S, 0);
	assert_int_equal(g.grew, 1);
	assert_int_equal(g.fell, 0);
	assert_true(fabs(g.per_second) < 1e-9);
	assert_false(leak_growth_is_steady(&g));
}

/* A trend that begins late is judged from its begin. */
TEST(test_trend_that_begins_late)
{
	struct leak_trend t = { 0 };
	struct leak_growth g;

	for (uint64_t i = 40; i < 60; i++)
		leak_trend_set(&t, i * S, 10 * (i - 39));
	g = finish(&t, 60 * S, 0);
	assert_in_range(g.windows, 6, 8);
	assert_int_equal(g.quarters, 4);
	assert_true(leak_growth_is_steady(&g));
}

/* Windows are as long as the time between two samples, and none begins before the last one. */
TEST(test_trend_windows)
{
	struct leak_trend t = { 0 }, back = { 0 }, empty = { 0 }, far = { 0 };
	struct leak_growth g;

	for (uint64_t i = 1; i <= 4; i++)
		leak_trend_set(&t, i * S, i);
	g = finish(&t, 4 * S + S / 2, S * 5 / 4);
	assert_int_equal(g.window_ns, 1600000000);
	assert_int_equal(g.grew, 3);
	leak_trend_set(&back, 5 * S, 7);
	leak_trend_set(&back, 1 * S, 9);
	g = finish(&back, 5 * S, 0);
	assert_int_equal(g.grew, 1);
	g = finish(&empty, 10 * S, 0);
	assert_int_equal(g.windows, 0);
	leak_trend_set(&far, UINT64_MAX, 1);
	g = finish(&far, UINT64_MAX, UINT64_MAX);
	assert_int_equal(g.windows, 1);
}

/* ---- verdicts ---- */

#define GROWS                                                                                      \
	{                                                                                          \
		.windows = 10, .grew = 6, .fell = 1, .quarters = 3, .per_second = 1                \
	}

TEST(test_verdict)
{
	static const struct {
		struct leak_evidence e;
		enum leak_verdict verdict;
	} rows[] = {
		{ { .lost = 1, .possible = 5, .growth = GROWS }, LEAK_LOST },
		{ { .possible = 1, .growth = GROWS }, LEAK_POSSIBLY_LOST },
		{ { .possible = 1, .indirect = 1 }, LEAK_INDIRECTLY_LOST },
		{ { .lost = 1, .indirect = 1 }, LEAK_LOST },
		{ { .reachable = 1, .program_ended = true }, LEAK_STILL_REACHABLE },
		{ { .reachable = 1, .unknown = 1, .program_ended = true }, LEAK_UNFREED },
		{ { .growth = GROWS, .unknown = 1, .program_ended = true }, LEAK_GROWING },
		{ { .unknown = 1, .program_ended = true }, LEAK_UNFREED },
		{ { .program_ended = true, .watched_ns = 100, .youngest_ns = 50, .oldest_ns = 60 },
		  LEAK_OLD },
		{ { .watched_ns = 100, .youngest_ns = 49, .oldest_ns = 60 }, LEAK_STEADY },
		{ { .watched_ns = 100, .youngest_ns = 1, .oldest_ns = 10 }, LEAK_YOUNG },
		{ { .watched_ns = 100, .youngest_ns = 1, .oldest_ns = 11 }, LEAK_STEADY },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(leak_verdict(&rows[i].e), rows[i].verdict);
	for (size_t i = 0; i < LEAK_VERDICT_MAX; i++)
		assert_true(strlen(leak_verdict_names[i]) > 0);
}

TEST(test_growth_thresholds)
{
	struct leak_growth g = {
		.windows = 10, .grew = 4, .fell = 1, .quarters = 3, .per_second = 0.1
	};

	assert_true(leak_growth_is_steady(&g));
	g.fell = 2;
	assert_false(leak_growth_is_steady(&g));
	g.fell = 0;
	g.quarters = 2;
	assert_false(leak_growth_is_steady(&g));
	g.quarters = 4;
	g.grew = 2;
	assert_false(leak_growth_is_steady(&g));
	g.grew = 3;
	g.per_second = 0;
	assert_false(leak_growth_is_steady(&g));
}

/* ---- estimates ---- */

/* Good enough here, and the same on all machines. */
static double next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (double)(*seed >> 11) / (double)(UINT64_C(1) << 53);
}

/* Samples N blocks of sizes up to MAX at INTERVAL. */
static struct leak_estimate sample(uint64_t *seed, unsigned n, uint64_t max, uint64_t interval,
				   double *ret_bytes)
{
	struct leak_estimate e = { 0 };

	*ret_bytes = 0;
	for (unsigned i = 0; i < n; i++) {
		uint64_t size = 1 + (uint64_t)(next_random(seed) * (double)max);

		*ret_bytes += (double)size;
		if (next_random(seed) < 1 - exp(-(double)size / (double)interval))
			leak_estimate_add(&e, size, interval);
	}
	return e;
}

/* Over many recordings, the mean is the truth, and 95 of 100 are within the reported error. */
TEST(test_estimate_is_unbiased)
{
	uint64_t seed = 0x9e3779b97f4a7c15;
	double blocks = 0, bytes = 0, truth = 0;
	unsigned within_blocks = 0, within_bytes = 0;
	enum { RUNS = 400, BLOCKS = 2000 };

	for (unsigned i = 0; i < RUNS; i++) {
		double n;
		struct leak_estimate e = sample(&seed, BLOCKS, 8192, 16384, &n);

		truth += n / RUNS;
		blocks += e.blocks / RUNS;
		bytes += e.bytes / RUNS;
		within_blocks += fabs(e.blocks - BLOCKS) <= leak_estimate_error(e.blocks_variance);
		within_bytes += fabs(e.bytes - n) <= leak_estimate_error(e.bytes_variance);
	}
	assert_true(fabs(blocks / BLOCKS - 1) < 0.02);
	assert_true(fabs(bytes / truth - 1) < 0.01);
	assert_in_range(within_bytes, RUNS * 92 / 100, RUNS * 98 / 100);
	/* (a small block stands for many, so their number varies more) */
	assert_in_range(within_blocks, RUNS * 80 / 100, RUNS);
}

TEST(test_estimate_of_all)
{
	struct leak_estimate e = { 0 };

	leak_estimate_add(&e, 100, 0);
	leak_estimate_add(&e, 0, 0);
	assert_true(e.blocks == 2 && e.bytes == 100);
	assert_true(leak_estimate_error(e.bytes_variance) == 0);
	/* far larger than the interval: exact */
	e = (struct leak_estimate){ 0 };
	leak_estimate_add(&e, 1 << 20, 1 << 10);
	assert_true(fabs(e.blocks - 1) < 1e-9);
	/* an empty block has a weight, too */
	leak_estimate_add(&e, 0, 1 << 10);
	assert_true(isfinite(e.blocks) && e.blocks > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trend_of_a_leak),
		cmocka_unit_test(test_trend_of_a_slow_leak),
		cmocka_unit_test(test_trend_of_what_is_no_leak),
		cmocka_unit_test(test_trend_that_begins_late),
		cmocka_unit_test(test_trend_windows),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_growth_thresholds),
		cmocka_unit_test(test_estimate_is_unbiased),
		cmocka_unit_test(test_estimate_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
