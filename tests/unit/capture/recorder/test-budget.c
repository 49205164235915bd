/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/cleanup.h"
#include "capture/recorder/budget.h"
#include "capture/recorder/costs.h"
#include "capture/proc/machine.h"
#include "tests/support/unit.h"

#define SECOND UINT64_C(1000000000)
#define ALL    (1u << SHED_STACKS | 1u << SHED_WAKEUPS | 1u << SHED_SESSION)

/*
 * Calls budget_check() once a second, with a cost from COSTS in ms. Shed parts are appended to RET:
 * S, W, E; parts that return: s, w, e; otherwise '.'.
 */
static void run(struct budget *b, const unsigned *costs, size_t n, char *ret)
{
	uint64_t now_ns = 5 * SECOND, cost_ns = 123;
	enum budget_shed what;

	budget_begin(b, now_ns, cost_ns, 0);
	for (size_t i = 0; i < n; i++) {
		enum budget_act act;

		now_ns += SECOND;
		cost_ns += costs[i] * UINT64_C(1000000);
		act = budget_check(b, now_ns, cost_ns, 0, &what);
		ret[i] = act == BUDGET_STAY ? '.' : (act == BUDGET_SHED ? "SWE" : "swe")[what];
		assert_int_equal(b->ppm, costs[i] * 1000);
		if (act != BUDGET_STAY)
			budget_begin(b, now_ns, cost_ns, 0);
	}
	ret[n] = '\0';
}

TEST(test_order)
{
	struct budget b = { .limit_ppm = 50000, .running_bits = ALL };
	const unsigned costs[] = { 60, 60, 60, 60, 60, 60 };
	char said[16];

	run(&b, costs, ARRAY_SIZE(costs), said);
	assert_string_equal(said, ".S.W.E");
	assert_int_equal(b.running_bits, 0);
}

TEST(test_two_in_a_row)
{
	struct budget b = { .limit_ppm = 50000, .running_bits = ALL };
	/* The limit itself is allowed. */
	const unsigned costs[] = { 51, 50, 900, 0, 51, 49, 51, 51, 50, 50 };
	char said[16];

	run(&b, costs, ARRAY_SIZE(costs), said);
	assert_string_equal(said, ".......S..");
	assert_int_equal(b.running_bits, 1u << SHED_WAKEUPS | 1u << SHED_SESSION);
}

TEST(test_what_is_not_there)
{
	struct budget b = { .limit_ppm = 1000, .running_bits = 1u << SHED_SESSION };
	const unsigned costs[] = { 2, 2, 2, 2 };
	char said[16];

	run(&b, costs, ARRAY_SIZE(costs), said);
	assert_string_equal(said, ".E..");
}

TEST(test_without_limit)
{
	struct budget b = { .running_bits = ALL };
	const unsigned costs[] = { 2000, 4000, 2000 };
	char said[16];

	run(&b, costs, ARRAY_SIZE(costs), said);
	assert_string_equal(said, "...");
}

TEST(test_looks)
{
	struct budget b = { .limit_ppm = 1000, .running_bits = ALL };

	enum budget_shed what;

	/* The session has not begun. */
	assert_int_equal(budget_check(&b, SECOND, SECOND, 0, &what), BUDGET_STAY);
	budget_begin(&b, SECOND, 0, 0);
	/* Too soon after the last call, or after the clock went back: ignored. */
	assert_int_equal(budget_check(&b, SECOND + SECOND / 4, SECOND / 4, 0, &what), BUDGET_STAY);
	assert_int_equal(budget_check(&b, SECOND / 2, SECOND / 4, 0, &what), BUDGET_STAY);
	assert_int_equal(b.n_over, 0);
	/* A late call covers more time. */
	assert_int_equal(budget_check(&b, 11 * SECOND, SECOND, 0, &what), BUDGET_STAY);
	assert_int_equal(b.ppm, 100000);
	/* Costs never shrink. A smaller value counts as no cost. */
	assert_int_equal(budget_check(&b, 12 * SECOND, 0, 0, &what), BUDGET_STAY);
	assert_int_equal(b.ppm, 0);
}

/* ---- parts that return ---- */

/*
 * A machine with LOAD, of which each part of the recording costs a share. The limit is 50 ms per
 * second. All parts cost 40 ms at load 1.
 */
struct world {
	struct budget b;
	uint64_t now_ns, cost_ns, work;
	bool blind;          /* the load is unknown */
	unsigned n_steps;    /* in total */
	unsigned n_sessions; /* including pauses and ends */
	char said[64];       /* the steps, as in run() */
};

static void check(struct world *w, double load)
{
	static const double shares[SHED_MAX] = { 20, 12, 8 };
	double cost_ms = 0.1;
	enum budget_shed what;
	enum budget_act act;

	for (unsigned i = 0; i < SHED_MAX; i++)
		if (w->b.running_bits >> i & 1)
			cost_ms += shares[i] * load;
	w->now_ns += SECOND;
	w->cost_ns += (uint64_t)(cost_ms * 1e6);
	w->work += (uint64_t)(1000 * load);
	act = budget_check(&w->b, w->now_ns, w->cost_ns, w->blind ? 0 : w->work, &what);
	if (act == BUDGET_STAY)
		return;
	if (w->n_steps + 1 < sizeof(w->said))
		w->said[w->n_steps] = (act == BUDGET_SHED ? "SWE" : "swe")[what];
	w->n_steps++;
	w->n_sessions += what == SHED_SESSION;
	budget_begin(&w->b, w->now_ns, w->cost_ns, w->blind ? 0 : w->work);
}

static void check_times(struct world *w, double load, unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++)
		check(w, load);
}

static struct world begun(bool blind)
{
	struct world w = { .b = { .limit_ppm = 50000, .running_bits = ALL },
			   .now_ns = 9 * SECOND,
			   .work = 77,
			   .blind = blind };

	budget_begin(&w.b, w.now_ns, w.cost_ns, blind ? 0 : w.work);
	return w;
}

/* A storm, calm, a storm, calm: all parts are shed, and all return, the last one first. */
TEST(test_returns)
{
	struct world w = begun(false);

	check_times(&w, 1, 20);
	assert_int_equal(w.n_steps, 0);
	check_times(&w, 20, 60);
	assert_string_equal(w.said, "SWE");
	assert_int_equal(w.b.running_bits, 0);
	/* Not before five seconds, and one after the other. */
	check_times(&w, 0.5, 4);
	assert_string_equal(w.said, "SWE");
	check_times(&w, 0.5, 2);
	assert_string_equal(w.said, "SWEe");
	check_times(&w, 0.5, 3);
	assert_string_equal(w.said, "SWEe");
	check_times(&w, 0.5, 10);
	assert_string_equal(w.said, "SWEews");
	assert_int_equal(w.b.running_bits, ALL);
	assert_int_equal(w.b.shed_bits, 0);
	check_times(&w, 20, 60);
	check_times(&w, 0.5, 60);
	assert_string_equal(w.said, "SWEewsSWEews");
}

/*
 * During the storm, a pause continues: the load shows that the recording would exceed the limit. It
 * is tried, in growing intervals.
 */
TEST(test_long_storm)
{
	struct world w = begun(false);

	check_times(&w, 20, 50);
	assert_string_equal(w.said, "SWE");
	check_times(&w, 20, 550);
	assert_in_range(w.n_sessions, 3, 7);
	check_times(&w, 20, 3600);
	assert_in_range(w.n_sessions, 9, 19);
}

/*
 * The load that cost much has ended, and the machine has as much load as before: all parts are back
 * after little more than a minute.
 */
TEST(test_other_costs)
{
	struct world w = begun(false);

	check_times(&w, 20, 20);
	assert_string_equal(w.said, "SWE");
	for (unsigned i = 0; i < 80; i++) {
		w.work += 19500;
		check(&w, 0.5);
	}
	assert_string_equal(w.said, "SWEews");
}

/*
 * With less load, only those parts return that fit: a part with which the cost would exceed three
 * quarters of the limit stays off.
 */
TEST(test_partly)
{
	struct world w = begun(false);

	check_times(&w, 2, 8);
	assert_string_equal(w.said, "S");
	/* 20 of 0.9 + 20 of 0.9 */
	check_times(&w, 0.95, 12);
	assert_string_equal(w.said, "S");
	check_times(&w, 0.9, 10);
	assert_string_equal(w.said, "Ss");
}

/* With changing load and without knowledge of it, there are few steps, since waits double. */
TEST(test_oscillation)
{
	for (unsigned period = 1; period <= 40; period++) {
		for (unsigned blind = 0; blind < 2; blind++) {
			struct world w = begun(blind);

			for (unsigned t = 0; t < 4 * 3600; t++)
				check(&w, t / period % 2 ? 0.3 : 20);
			assert_in_range(w.n_steps, 0, 150);
		}
	}
}

/* An endless storm with unknown load: it is tried after 5, 10, 20 ... seconds. */
TEST(test_blind)
{
	struct world w = begun(true);

	check_times(&w, 20, 100);
	assert_in_range(w.n_sessions, 7, 9);
	check_times(&w, 20, 4 * 3600);
	assert_in_range(w.n_sessions, 40, 70);
}

/* A part that was shed again after its return waits longer. Its cost is still known. */
TEST(test_failed)
{
	struct world w = begun(false);
	uint64_t saved_ppm;

	check_times(&w, 2, 60);
	saved_ppm = w.b.stages[SHED_STACKS].saved_ppm;
	assert_in_range(saved_ppm, 39000, 41000);
	check_times(&w, 0.5, 6);
	assert_string_equal(w.said, "Ss");
	budget_failed(&w.b, SHED_STACKS, w.now_ns);
	assert_int_equal(w.b.shed_bits, 1u << SHED_STACKS);
	assert_int_equal(w.b.stages[SHED_STACKS].saved_ppm, saved_ppm);
	check_times(&w, 0.5, 8);
	assert_string_equal(w.said, "Ss");
	check_times(&w, 0.5, 4);
	assert_string_equal(w.said, "Sss");
}

/* The load of the machine, from the kernel. */
TEST(test_machine)
{
	uint64_t n = machine_switches("/proc/stat");

	assert_true(n > 0);
	assert_true(machine_switches("/proc/stat") >= n);
	assert_int_equal(machine_switches("/proc/version"), 0);
	assert_int_equal(machine_switches("/there/is/none"), 0);
	assert_true(machine_n_cpus() >= 1);
}

/* ---- sums ---- */

TEST(test_estimate)
{
	struct cpu_costs cpus[2] = { 0 };
	struct costs c;

	assert_int_equal(costs_init(&c, 2), 0);
	costs_update(&c, cpus);
	assert_int_equal(costs_total(&c).runs, 0);
	assert_int_equal(costs_total(&c).ns, 0);

	/* 10 of 640 runs were timed, with 150 ns each. */
	cpus[0].classes[COST_SCHED] =
		(struct program_cost){ .runs = 640, .n_timed = 10, .ns = 1500 };
	cpus[1].classes[COST_SAMPLES] =
		(struct program_cost){ .runs = 3, .n_timed = 3, .ns = 15001 };
	costs_update(&c, cpus);
	assert_int_equal(c.sums[COST_SCHED].ns, 96000);
	assert_int_equal(c.sums[COST_SAMPLES].ns, 15001);
	assert_int_equal(costs_total(&c).runs, 643);
	assert_int_equal(costs_total(&c).ns, 111001);

	/* Now they take twice as long. This applies to new runs only. */
	cpus[0].classes[COST_SCHED] =
		(struct program_cost){ .runs = 1280, .n_timed = 20, .ns = 4500 };
	costs_update(&c, cpus);
	assert_int_equal(c.sums[COST_SCHED].ns, 96000 + 192000);

	/* None was timed: the average of all runs so far, 225 ns, applies. */
	cpus[0].classes[COST_SCHED].runs += 2;
	costs_update(&c, cpus);
	assert_int_equal(c.sums[COST_SCHED].ns, 96000 + 192000 + 450);
	assert_int_equal(c.sums[COST_SCHED].runs, 1282);

	/* No new runs. */
	costs_update(&c, cpus);
	assert_int_equal(c.sums[COST_SCHED].ns, 96000 + 192000 + 450);
	costs_deinit(&c);
}

/* Runs of which none was timed have no known cost. */
TEST(test_untimed)
{
	struct cpu_costs cpu = { 0 };
	struct costs c;

	assert_int_equal(costs_init(&c, 1), 0);
	cpu.classes[COST_IRQ].runs = 5;
	costs_update(&c, &cpu);
	assert_int_equal(costs_total(&c).runs, 5);
	assert_int_equal(costs_total(&c).ns, 0);
	costs_deinit(&c);
}

TEST(test_names)
{
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
		cmocka_unit_test(test_returns),
		cmocka_unit_test(test_long_storm),
		cmocka_unit_test(test_other_costs),
		cmocka_unit_test(test_partly),
		cmocka_unit_test(test_oscillation),
		cmocka_unit_test(test_blind),
		cmocka_unit_test(test_failed),
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_estimate),
		cmocka_unit_test(test_untimed),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
