/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The load of CPUs over time: its bins contain exactly the runs, for recordings of any length.
 */
#include "reader/views/cpu-timeline.h"
#include "tests/support/fixtures/summary-events.h"
#include "tests/support/unit.h"

#define MS UINT64_C(1000000)

struct test {
	struct summary *summary;
	struct cpu_timeline *timeline;
};

static void begin(struct test *t)
{
	assert_int_equal(summary_new(&t->summary), 0);
	assert_int_equal(cpu_timeline_new(&t->timeline, t->summary), 0);
	start(t->summary, 5 * MS);
}

static void finish(struct test *t, uint64_t ts)
{
	stop(t->summary, ts);
	cpu_timeline_finish(t->timeline);
}

static void end(struct test *t)
{
	cpu_timeline_free(t->timeline);
	summary_free(t->summary);
}

/* On CPU, OUT leaves and IN runs from TS on; 0 = idle. */
static void to(struct summary *s, uint32_t cpu, uint64_t ts, uint32_t out, uint32_t in)
{
	sw(s, ts, (struct sw){ cpu, out, in, .state = BLOCKED });
}

static uint64_t sum_of(const struct test *t, size_t cpu)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < CPU_TIMELINE_BINS; i++)
		sum += t->timeline->cpus[cpu].busy_ns[i];
	return sum;
}

static void test_finish_short(void **state)
{
	struct test t;

	begin(&t);
	to(t.summary, 1, 6 * MS, 0, 11);
	to(t.summary, 1, 6 * MS + MS / 2, 11, 0);
	to(t.summary, 1, 7 * MS, 0, 11);
	finish(&t, 8 * MS + MS / 2);
	assert_int_equal(t.timeline->start_ns, 5 * MS);
	assert_int_equal(t.timeline->width_ns, MS);
	assert_int_equal(t.timeline->n_bins, 4);
	assert_int_equal(t.timeline->n_cpus, 2);
	assert_null(t.timeline->cpus[0].busy_ns);
	assert_true(cpu_timeline_share(t.timeline, 0, 1) == 0);
	assert_true(cpu_timeline_share(t.timeline, 1, 0) == 0);
	assert_true(cpu_timeline_share(t.timeline, 1, 1) == 0.5);
	assert_true(cpu_timeline_share(t.timeline, 1, 2) == 1);
	/* the last bin is half as wide */
	assert_true(cpu_timeline_share(t.timeline, 1, 3) == 1);
	assert_true(cpu_timeline_share(t.timeline, 1, 4) == 0);
	assert_true(cpu_timeline_share(t.timeline, 7, 0) == 0);
	end(&t);
}

/* A day has no more bins than a second, and no run is lost. */
static void test_finish_long(void **state)
{
	const uint64_t second = 1000 * MS, day = 24 * 3600 * second;
	uint64_t busy_ns = 0;
	struct test t;

	begin(&t);
	for (uint64_t at = second; at < day; at += 100 * second) {
		to(t.summary, 2, at, 0, 11);
		to(t.summary, 2, at + 7 * second + 1, 11, 0);
		busy_ns += 7 * second + 1;
	}
	finish(&t, day);
	assert_true(t.timeline->n_bins <= CPU_TIMELINE_BINS);
	assert_true(t.timeline->n_bins > CPU_TIMELINE_BINS / 2);
	assert_true(sum_of(&t, 2) == busy_ns);
	assert_true(t.timeline->cpus[2].total_ns == busy_ns);
	assert_true(t.timeline->cpus[2].total_ns == t.summary->cpus[2].busy_ns);
	end(&t);
}

/* Other views can listen, too. */
static int count_segment(void *userdata, const struct thread_segment *segment)
{
	++*(int *)userdata;
	return 0;
}

static void test_listeners(void **state)
{
	struct test t;
	int n = 0;

	begin(&t);
	summary_listen(t.summary, count_segment, &n);
	to(t.summary, 0, 6 * MS, 0, 11);
	to(t.summary, 0, 7 * MS, 11, 0);
	finish(&t, 8 * MS);
	assert_true(n > 0);
	assert_true(sum_of(&t, 0) == MS);
	end(&t);
}

/* A damaged archive can name any CPU and any time. */
static void test_on_segment_wild(void **state)
{
	struct test t;

	begin(&t);
	to(t.summary, UINT16_MAX, 6 * MS, 0, 11);
	to(t.summary, UINT16_MAX, 7 * MS, 11, 0);
	to(t.summary, 0, 7 * MS, 0, 12);
	to(t.summary, 0, UINT64_MAX - 1, 12, 0);
	finish(&t, UINT64_MAX);
	assert_true(t.timeline->n_beyond > 0);
	assert_true(t.timeline->n_cpus <= 1);
	assert_true(t.timeline->n_bins <= CPU_TIMELINE_BINS);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finish_short),
		cmocka_unit_test(test_finish_long),
		cmocka_unit_test(test_listeners),
		cmocka_unit_test(test_on_segment_wild),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
