/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings of one second on one CPU each, in which processes run for given times.
 */
#include <stdio.h>
#include <string.h>

#include "reader/views/summary-diff.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-wire.h"

#define MS UINT64_C(1000000)

/* ---- functions for events ---- */

struct told {
	struct diff_input a, b;
};

static void tell(struct diff_input *in, struct event ev)
{
	assert_int_equal(diff_input_add(in, &ev), 0);
}

static void begin(struct diff_input *in)
{
	assert_int_equal(diff_input_init(in), 0);
	tell(in, (struct event){ .kind = EVENT_START,
				 .start = { "s", "c", "o", "k", "m", "h", "v", 1, false } });
}

static void end(struct diff_input *in, uint64_t ms)
{
	tell(in, (struct event){ .kind = EVENT_STOP, .ts_ns = ms * MS, .stop = { .reason = "" } });
	summary_finish(in->summary);
}

static void process(struct diff_input *in, uint32_t pid, const char *name, const char *command_line)
{
	tell(in, (struct event){ .kind = EVENT_TASK,
				 .pid = pid,
				 .task = { name, command_line, .is_process = true } });
	tell(in,
	     (struct event){ .kind = EVENT_TASK, .pid = pid, .tid = pid, .task = { name, "" } });
}

static void thread(struct diff_input *in, uint32_t pid, uint32_t tid, const char *name)
{
	tell(in,
	     (struct event){ .kind = EVENT_TASK, .pid = pid, .tid = tid, .task = { name, "" } });
}

/* TID is woken at AT, waits WAIT_NS and runs for NS. */
static void run(struct diff_input *in, uint32_t tid, uint64_t at, uint64_t wait_ns, uint64_t ns)
{
	tell(in, (struct event){ .kind = EVENT_WAKE, .ts_ns = at, .tid = tid });
	tell(in, (struct event){ .kind = EVENT_SWITCH,
				 .ts_ns = at + wait_ns,
				 .sw = { .next_tid = tid, .prev_prio = INT32_MIN } });
	tell(in, (struct event){ .kind = EVENT_SWITCH,
				 .ts_ns = at + wait_ns + ns,
				 .tid = tid,
				 .sw = { .out_state = FXT_STATE_BLOCKED } });
}

FIXTURE(set_up)
{
	static struct told told;

	*state = &told;
	begin(&told.a);
	begin(&told.b);
	return 0;
}

FIXTURE(tear_down)
{
	struct told *t = *state;

	diff_input_deinit(&t->a);
	diff_input_deinit(&t->b);
	return 0;
}

static struct summary_diff *lay(struct told *t, bool by_thread)
{
	struct summary_diff *d;

	assert_int_equal(summary_diff_new(&t->a, &t->b, by_thread, &d), 0);
	return d;
}

static const struct diff_row *row(const struct summary_diff *d, const char *name,
				  const char *command_line)
{
	for (size_t i = 0; i < d->n_rows; i++) {
		const struct diff_row *r = &d->rows[i];

		if (strcmp(r->name, name) == 0 &&
		    (!command_line ? !r->command_line
				   : r->command_line && strcmp(r->command_line, command_line) == 0))
			return r;
	}
	fail_msg("there is no row %s, %s", name, command_line ?: "-");
	return NULL;
}

static double change(const struct summary_diff *d, const struct diff_row *r, enum diff_metric m)
{
	return summary_diff_value(d, DIFF_B, &r->side[DIFF_B], m) -
	       summary_diff_value(d, DIFF_A, &r->side[DIFF_A], m);
}

static void assert_near(double is, double expected)
{
	assert_true(is - expected < 1e-9 && expected - is < 1e-9);
}

/* ---- tests ---- */

TEST(test_empty)
{
	_cleanup_(summary_diff_freep) struct summary_diff *d = NULL;

	end(&((struct told *)*state)->a, 0);
	end(&((struct told *)*state)->b, 0);
	d = lay(*state, false);
	assert_int_equal(d->n_rows, 0);
	assert_near(summary_diff_value(d, DIFF_A, &d->total[DIFF_A], DIFF_CPU), 0);
	summary_diff_sort(d, DIFF_CPU);
}

/* The same process with different pids, in recordings of different lengths. */
TEST(test_normalised)
{
	struct told *t = *state;
	_cleanup_(summary_diff_freep) struct summary_diff *d = NULL;
	const struct diff_row *r;

	process(&t->a, 10, "work", "work");
	process(&t->b, 20, "work", "work");
	run(&t->a, 10, 100 * MS, 2 * MS, 100 * MS);
	for (unsigned i = 0; i < 2; i++)
		run(&t->b, 20, (100 + 500 * i) * MS, 4 * MS, 100 * MS);
	end(&t->a, 1000);
	end(&t->b, 2000);
	d = lay(t, false);
	assert_int_equal(d->n_rows, 1);
	r = row(d, "work", "work");
	assert_int_equal(r->side[DIFF_A].cpu_ns, 100 * MS);
	assert_int_equal(r->side[DIFF_B].cpu_ns, 200 * MS);
	assert_near(change(d, r, DIFF_CPU), 0);
	assert_near(change(d, r, DIFF_SWITCHES), 0);
	assert_near(change(d, r, DIFF_WAIT), 0.004 - 0.002);
	assert_near(change(d, r, DIFF_LATENCY), 2.0 * MS);
	assert_true(change(d, r, DIFF_P99_9) > 1.8 * MS);
	assert_true(diff_row_has(r, DIFF_B, DIFF_P50));
	assert_true(diff_row_is_small(r, DIFF_P50));
	assert_int_equal(r->side[DIFF_B].latency.n, 2);
	assert_int_equal(r->side[DIFF_B].latency.max_ns, 4 * MS);
	assert_int_equal(d->total[DIFF_B].cpu_ns, 200 * MS);
	assert_false(r->several);
}

/* The maximum latency is the same as in a summary. */
TEST(test_latency_is_the_summary_s)
{
	struct told *t = *state;
	_cleanup_(summary_diff_freep) struct summary_diff *d = NULL;
	const struct summary_thread *thread;

	process(&t->a, 10, "work", "");
	run(&t->a, 10, 10 * MS, 3 * MS, MS);
	/* A wakeup of a running thread does not count, and one before a loss has no latency. */
	tell(&t->a,
	     (struct event){ .kind = EVENT_SWITCH, .ts_ns = 20 * MS, .sw = { .next_tid = 10 } });
	tell(&t->a, (struct event){ .kind = EVENT_WAKE, .ts_ns = 21 * MS, .tid = 10 });
	tell(&t->a, (struct event){ .kind = EVENT_SWITCH,
				    .ts_ns = 30 * MS,
				    .tid = 10,
				    .sw = { .out_state = FXT_STATE_BLOCKED } });
	tell(&t->a, (struct event){ .kind = EVENT_WAKE, .ts_ns = 40 * MS, .tid = 10 });
	tell(&t->a, (struct event){ .kind = EVENT_LOST,
				    .ts_ns = 50 * MS,
				    .lost = { .class_name = "sched", .count = 5 } });
	tell(&t->a,
	     (struct event){ .kind = EVENT_SWITCH, .ts_ns = 60 * MS, .sw = { .next_tid = 10 } });
	end(&t->a, 1000);
	end(&t->b, 1000);
	d = lay(t, false);
	thread = table_get(&t->a.summary->threads, 10);
	assert_int_equal(thread->max_wakeup_latency_ns, 3 * MS);
	assert_int_equal(d->total[DIFF_A].latency.n, 1);
	assert_int_equal(d->total[DIFF_A].latency.max_ns, 3 * MS);
}

TEST(test_only_in_one)
{
	struct told *t = *state;
	_cleanup_(summary_diff_freep) struct summary_diff *d = NULL;

	process(&t->a, 10, "old", "old");
	process(&t->b, 10, "new", "new");
	process(&t->b, 11, "idle", "idle");
	run(&t->a, 10, MS, 0, MS);
	run(&t->b, 10, MS, 0, MS);
	end(&t->a, 1000);
	end(&t->b, 1000);
	d = lay(t, false);
	/* A process without activity has no row. */
	assert_int_equal(d->n_rows, 2);
	assert_true(diff_row_has(row(d, "old", "old"), DIFF_A, DIFF_CPU));
	assert_false(diff_row_has(row(d, "old", "old"), DIFF_B, DIFF_CPU));
	assert_false(diff_row_has(row(d, "new", "new"), DIFF_A, DIFF_CPU));
	assert_true(diff_row_has(row(d, "new", "new"), DIFF_B, DIFF_CPU));
}

/* Command lines distinguish processes with the same name, if both recordings have them. */
TEST(test_command_lines)
{
	struct told *t = *state;
	_cleanup_(summary_diff_freep) struct summary_diff *d = NULL;
	const struct diff_row *others;

	process(&t->a, 1, "py", "py one");
	process(&t->a, 2, "py", "py two");
	process(&t->a, 3, "py", "py old");
	process(&t->b, 1, "py", "py two");
	process(&t->b, 2, "py", "py one");
	process(&t->b, 3, "py", "py new");
	/* A single process on each side is the same one, with any arguments. */
	process(&t->a, 4, "sh", "sh /tmp/1");
	process(&t->b, 4, "sh", "sh /tmp/2");
	for (uint32_t i = 1; i <= 4; i++) {
		run(&t->a, i, 10 * i * MS, 0, i * MS);
		run(&t->b, i, 10 * i * MS, 0, i * MS);
	}
	end(&t->a, 1000);
	end(&t->b, 1000);
	d = lay(t, false);
	assert_int_equal(d->n_rows, 4);
	assert_near(change(d, row(d, "py", "py one"), DIFF_CPU), 0.001);
	assert_near(change(d, row(d, "py", "py two"), DIFF_CPU), -0.001);
	assert_true(row(d, "py", "py two")->several);
	others = row(d, "py", NULL);
	assert_true(others->others);
	assert_int_equal(others->side[DIFF_A].cpu_ns, 3 * MS);
	assert_int_equal(others->side[DIFF_B].cpu_ns, 3 * MS);
	assert_near(change(d, row(d, "sh", NULL), DIFF_CPU), 0);
	assert_false(row(d, "sh", NULL)->several);
}

/* A name that remains in one recording only is not changed. */
TEST(test_command_lines_one_side)
{
	struct told *t = *state;
	_cleanup_(summary_diff_freep) struct summary_diff *d = NULL;

	process(&t->a, 1, "py", "py one");
	process(&t->b, 2, "py", "py one");
	process(&t->b, 3, "py", "py new");
	process(&t->b, 4, "py", "py newer");
	run(&t->a, 1, MS, 0, MS);
	for (uint32_t i = 2; i <= 4; i++)
		run(&t->b, i, 10 * i * MS, 0, MS);
	end(&t->a, 1000);
	end(&t->b, 1000);
	d = lay(t, false);
	assert_int_equal(d->n_rows, 3);
	assert_false(diff_row_has(row(d, "py", "py new"), DIFF_A, DIFF_CPU));
	assert_false(diff_row_has(row(d, "py", "py newer"), DIFF_A, DIFF_CPU));
}

/* Very many command lines, as compilers have them, share a row. */
TEST(test_many_command_lines)
{
	struct told *t = *state;
	_cleanup_(summary_diff_freep) struct summary_diff *d = NULL;

	for (uint32_t i = 1; i <= DIFF_SPLIT_MAX + 1; i++) {
		char command_line[32];

		snprintf(command_line, sizeof(command_line), "cc %u.c", i);
		process(&t->a, i, "cc", command_line);
		run(&t->a, i, 10 * i * MS, 0, MS);
		if (i > 2)
			continue;
		process(&t->b, i, "cc", command_line);
		run(&t->b, i, 10 * i * MS, 0, MS);
	}
	end(&t->a, 1000);
	end(&t->b, 1000);
	d = lay(t, false);
	assert_int_equal(d->n_rows, 1);
	assert_int_equal(d->rows[0].side[DIFF_A].n_processes, DIFF_SPLIT_MAX + 1);
	assert_int_equal(d->rows[0].side[DIFF_B].n_processes, 2);
	assert_int_equal(d->rows[0].side[DIFF_A].latency.n, DIFF_SPLIT_MAX + 1);
	assert_null(d->rows[0].command_line);
	assert_false(d->rows[0].others);
}

TEST(test_threads)
{
	struct told *t = *state;
	_cleanup_(summary_diff_freep) struct summary_diff *d = NULL;
	static const char *const names[] = { "pool", "pool", "kworker/0:1", "kworker/u8:3-x" };

	process(&t->a, 1, "app", "app");
	process(&t->b, 1, "app", "app");
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++) {
		thread(&t->a, 1, 2 + i, names[i]);
		run(&t->a, 2 + i, 10 * (i + 1) * MS, 0, MS);
	}
	run(&t->b, 1, MS, 0, MS);
	end(&t->a, 1000);
	end(&t->b, 1000);
	d = lay(t, true);
	assert_int_equal(d->n_rows, 3);
	for (size_t i = 0; i < d->n_rows; i++) {
		const struct diff_row *r = &d->rows[i];

		assert_string_equal(r->name, "app");
		if (strcmp(r->thread, "app") == 0)
			assert_int_equal(r->side[DIFF_B].n_processes, 1);
		else if (strcmp(r->thread, "pool") == 0)
			assert_int_equal(r->side[DIFF_A].n_processes, 2);
		else
			assert_string_equal(r->thread, "kworker/*");
	}
	/* But a process counts as one, even if its first thread had no activity. */
	d = summary_diff_free(d);
	d = lay(t, false);
	assert_int_equal(d->n_rows, 1);
	assert_int_equal(d->rows[0].side[DIFF_A].n_processes, 1);
}

TEST(test_sort)
{
	struct told *t = *state;
	_cleanup_(summary_diff_freep) struct summary_diff *d = NULL;

	process(&t->a, 1, "same", "");
	process(&t->b, 1, "same", "");
	process(&t->a, 2, "less", "");
	process(&t->b, 2, "less", "");
	process(&t->b, 3, "more", "");
	run(&t->a, 1, 0, 0, 100 * MS);
	run(&t->b, 1, 0, 0, 100 * MS);
	run(&t->a, 2, 200 * MS, 0, 30 * MS);
	run(&t->b, 3, 200 * MS, 0, 20 * MS);
	/* Woken often enough for a reliable result, with a small difference. */
	for (uint32_t i = 0; i < DIFF_SAMPLES_FEW; i++) {
		run(&t->a, 1, (300 + 2 * i) * MS, 1000, 1);
		run(&t->b, 1, (300 + 2 * i) * MS, 1100, 1);
	}
	run(&t->b, 2, 500 * MS, 100 * MS, 1);
	end(&t->a, 1000);
	end(&t->b, 1000);
	d = lay(t, false);
	summary_diff_sort(d, DIFF_CPU);
	assert_string_equal(d->rows[0].name, "less");
	assert_string_equal(d->rows[1].name, "more");
	assert_string_equal(d->rows[2].name, "same");
	assert_true(diff_row_is_small(&d->rows[0], DIFF_CPU));
	assert_false(diff_row_is_small(&d->rows[2], DIFF_CPU));
	summary_diff_sort(d, DIFF_LATENCY);
	assert_string_equal(d->rows[0].name, "same");
	assert_string_equal(d->rows[1].name, "less");
	assert_string_equal(d->rows[2].name, "more");
	assert_false(diff_row_is_small(&d->rows[0], DIFF_LATENCY));
	assert_true(diff_row_is_small(&d->rows[1], DIFF_LATENCY));
}

/* A percentile is significant if at least 30 latencies are beyond it. */
TEST(test_percentiles)
{
	_cleanup_(latency_deinit) struct latency l = { 0 };

	for (unsigned i = 1; i <= 3000; i++) {
		assert_int_equal(latency_add(&l, i), 0);
		assert_int_equal(diff_is_percentile_small(&l, 50), i < 60);
		assert_int_equal(diff_is_percentile_small(&l, 99), i < 3000);
		assert_true(diff_is_percentile_small(&l, 99.9));
	}
	assert_true(diff_metric_is_latency(DIFF_P99));
	assert_false(diff_metric_is_latency(DIFF_WAIT));
}

/* Threads of unknown processes have their own names. */
TEST(test_unknown)
{
	struct told *t = *state;
	_cleanup_(summary_diff_freep) struct summary_diff *d = NULL;

	run(&t->a, 7, MS, 0, MS);
	run(&t->a, 8, 10 * MS, 0, MS);
	thread(&t->b, 9, 10, "alone");
	thread(&t->b, 9, 11, "alone too");
	run(&t->b, 10, MS, 0, MS);
	run(&t->b, 11, 10 * MS, 0, MS);
	end(&t->a, 1000);
	end(&t->b, 1000);
	d = lay(t, false);
	assert_int_equal(d->n_rows, 3);
	assert_int_equal(row(d, "?", NULL)->side[DIFF_A].n_processes, 2);
	assert_int_equal(row(d, "alone", NULL)->side[DIFF_B].n_processes, 1);
	assert_int_equal(row(d, "alone too", NULL)->side[DIFF_B].n_processes, 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_empty),
		CASE(test_normalised),
		CASE(test_latency_is_the_summary_s),
		CASE(test_only_in_one),
		CASE(test_command_lines),
		CASE(test_command_lines_one_side),
		CASE(test_many_command_lines),
		CASE(test_threads),
		CASE(test_sort),
		CASE(test_percentiles),
		CASE(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
