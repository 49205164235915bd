/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/cleanup.h"
#include "capture/budget.h"
#include "capture/costs.h"

#define SECOND UINT64_C(1000000000)
#define ALL    (1u << SHED_STACKS | 1u << SHED_WAKEUPS | 1u << SHED_SESSION)

/* A look each second; the cost of each is one of COSTS, ms. What goes is written down: S, W, E; else '.'. */
static void run(struct budget *b, const unsigned *costs, size_t n, char *ret)
{
	static const char letters[] = "SWE.";
	uint64_t now_ns = 5 * SECOND, cost_ns = 123;

	budget_begin(b, now_ns, cost_ns);
	for (size_t i = 0; i < n; i++) {
		enum budget_shed what;

		now_ns += SECOND;
		cost_ns += costs[i] * UINT64_C(1000000);
		what = budget_look(b, now_ns, cost_ns);
		ret[i] = letters[what];
		assert_int_equal(b->ppm, costs[i] * 1000);
		if (what < SHED_SESSION)
			budget_begin(b, now_ns, cost_ns);
	}
	ret[n] = '\0';
}

static void test_order(void **state)
{
	struct budget b = { .limit_ppm = 50000, .there = ALL };
	const unsigned costs[] = { 60, 60, 60, 60, 60, 60 };
	char said[16];

	(void)state;
	run(&b, costs, ARRAY_SIZE(costs), said);
	assert_string_equal(said, ".S.W.E");
	assert_int_equal(b.there, 0);
}

static void test_two_in_a_row(void **state)
{
	struct budget b = { .limit_ppm = 50000, .there = ALL };
	/* The limit itself is allowed. */
	const unsigned costs[] = { 51, 50, 900, 0, 51, 49, 51, 51, 50, 50 };
	char said[16];

	(void)state;
	run(&b, costs, ARRAY_SIZE(costs), said);
	assert_string_equal(said, ".......S..");
	assert_int_equal(b.there, 1u << SHED_WAKEUPS | 1u << SHED_SESSION);
}

static void test_what_is_not_there(void **state)
{
	struct budget b = { .limit_ppm = 1000, .there = 1u << SHED_SESSION };
	const unsigned costs[] = { 2, 2, 2, 2 };
	char said[16];

	(void)state;
	run(&b, costs, ARRAY_SIZE(costs), said);
	assert_string_equal(said, ".E..");
}

static void test_without_limit(void **state)
{
	struct budget b = { .there = ALL };
	const unsigned costs[] = { 2000, 4000, 2000 };
	char said[16];

	(void)state;
	run(&b, costs, ARRAY_SIZE(costs), said);
	assert_string_equal(said, "...");
}

static void test_looks(void **state)
{
	struct budget b = { .limit_ppm = 1000, .there = ALL };

	(void)state;
	/* It has not begun. */
	assert_int_equal(budget_look(&b, SECOND, SECOND), SHED_MAX);
	budget_begin(&b, SECOND, 0);
	/* Too soon after the last one, or a clock that went back: not looks. */
	assert_int_equal(budget_look(&b, SECOND + SECOND / 4, SECOND / 4), SHED_MAX);
	assert_int_equal(budget_look(&b, SECOND / 2, SECOND / 4), SHED_MAX);
	assert_int_equal(b.n_over, 0);
	/* One that came late is about more time. */
	assert_int_equal(budget_look(&b, 11 * SECOND, SECOND), SHED_MAX);
	assert_int_equal(b.ppm, 100000);
	/* Costs never shrink; what seems to has cost nothing. */
	assert_int_equal(budget_look(&b, 12 * SECOND, 0), SHED_MAX);
	assert_int_equal(b.ppm, 0);
}

/* ---- sums ---- */

static void test_estimate(void **state)
{
	struct cpu_costs cpus[2] = { 0 };
	struct costs c;

	(void)state;
	assert_int_equal(costs_init(&c, 2), 0);
	costs_look(&c, cpus);
	assert_int_equal(costs_total(&c).runs, 0);
	assert_int_equal(costs_total(&c).ns, 0);

	/* Of 640 runs 10 were timed, 150 ns each. */
	cpus[0].classes[COST_SCHED] =
		(struct program_cost){ .runs = 640, .n_timed = 10, .ns = 1500 };
	cpus[1].classes[COST_SAMPLES] =
		(struct program_cost){ .runs = 3, .n_timed = 3, .ns = 15001 };
	costs_look(&c, cpus);
	assert_int_equal(c.sums[COST_SCHED].ns, 96000);
	assert_int_equal(c.sums[COST_SAMPLES].ns, 15001);
	assert_int_equal(costs_total(&c).runs, 643);
	assert_int_equal(costs_total(&c).ns, 111001);

	/* Now they take twice as long: the next ones are like that, those before stay. */
	cpus[0].classes[COST_SCHED] =
		(struct program_cost){ .runs = 1280, .n_timed = 20, .ns = 4500 };
	costs_look(&c, cpus);
	assert_int_equal(c.sums[COST_SCHED].ns, 96000 + 192000);

	/* None was timed: as all were so far, 225 ns. */
	cpus[0].classes[COST_SCHED].runs += 2;
	costs_look(&c, cpus);
	assert_int_equal(c.sums[COST_SCHED].ns, 96000 + 192000 + 450);
	assert_int_equal(c.sums[COST_SCHED].runs, 1282);

	/* Nothing has happened. */
	costs_look(&c, cpus);
	assert_int_equal(c.sums[COST_SCHED].ns, 96000 + 192000 + 450);
	costs_deinit(&c);
}

/* Runs that nobody has timed yet cost nothing that is known. */
static void test_untimed(void **state)
{
	struct cpu_costs cpu = { 0 };
	struct costs c;

	(void)state;
	assert_int_equal(costs_init(&c, 1), 0);
	cpu.classes[COST_IRQ].runs = 5;
	costs_look(&c, &cpu);
	assert_int_equal(costs_total(&c).runs, 5);
	assert_int_equal(costs_total(&c).ns, 0);
	costs_deinit(&c);
}

static void test_names(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COST_CLASSES; i++) {
		assert_non_null(cost_names[i]);
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(cost_names[i], cost_names[j]);
	}
	for (unsigned i = 0; i < SHED_MAX; i++)
		assert_non_null(budget_shed_names[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_two_in_a_row),
		cmocka_unit_test(test_what_is_not_there),
		cmocka_unit_test(test_without_limit),
		cmocka_unit_test(test_looks),
		cmocka_unit_test(test_estimate),
		cmocka_unit_test(test_untimed),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
