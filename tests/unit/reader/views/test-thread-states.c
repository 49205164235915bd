/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The segments of threads, from events with times in nanoseconds. Each test compares them as text.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "reader/views/thread-states.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

#define BLOCKED   FXT_STATE_BLOCKED
#define PREEMPTED FXT_STATE_RUNNING
#define DEAD      FXT_STATE_DEAD

enum { LINE_MAX_BYTES = 128 };

struct line {
	uint32_t tid;
	size_t number;
	char text[LINE_MAX_BYTES];
};

struct test {
	struct thread_states *states;
	struct line *lines; /* the segments */
	size_t n_lines, room;
	/* tid -> end of its last segment, plus 1 */
	struct table ends;
	bool in_order; /* segments have no gaps and no overlaps */
};

/* "10 runnable 20-30 cpu 1 woken by 9"; the end follows if it is no event. */
static int on_segment(void *userdata, const struct thread_segment *g)
{
	static const char *const states[THREAD_STATES] = { "unknown", "running", "runnable",
							   "blocked", "dead" };
	static const char *const ends[] = { "", " gap", " open", " pause" };
	struct test *t = userdata;
	uintptr_t before = (uintptr_t)table_get(&t->ends, g->tid);
	bool on_cpu = g->state == THREAD_RUNNING || g->state == THREAD_RUNNABLE ||
		      g->state == THREAD_BLOCKED;
	const char letter[] = { g->letter ? ' ' : '\0', g->letter, '\0' };
	char cpu[20] = "", woken[30] = "", served[40] = "";
	struct line *line;

	assert_true(g->from_ns <= g->to_ns);
	if (before && before != g->from_ns + 1)
		t->in_order = false;
	assert_int_equal(table_set(&t->ends, g->tid, (void *)(uintptr_t)(g->to_ns + 1)), 0);
	assert_int_equal(GROW(t->lines, t->room, t->n_lines + 1), 0);
	line = &t->lines[t->n_lines];
	line->tid = g->tid;
	line->number = t->n_lines++;
	if (on_cpu)
		snprintf(cpu, sizeof(cpu), " cpu %" PRIu32, g->cpu);
	if (g->woken)
		snprintf(woken, sizeof(woken), " woken by %" PRIu32, g->waker_tid);
	if (g->served_ns)
		snprintf(served, sizeof(served), " serves %" PRIu64, g->served_ns);
	snprintf(line->text, sizeof(line->text),
		 "%" PRIu32 " %s %" PRIu64 "-%" PRIu64 "%s%s%s%s%s%s%s\n", g->tid, states[g->state],
		 g->from_ns, g->to_ns, cpu, letter, g->preempted ? " preempted" : "", woken, served,
		 g->earlier     ? " earlier"
		 : g->continued ? " continued"
				: "",
		 g->split ? " split" : ends[g->end]);
	return 0;
}

FIXTURE(set_up)
{
	struct test *t = calloc(1, sizeof(*t));

	*state = t;
	if (!t)
		return -1;
	t->in_order = true;
	return thread_states_new(&t->states, on_segment, t);
}

FIXTURE(tear_down)
{
	struct test *t = *state;

	thread_states_free(t->states);
	free(t->lines);
	table_deinit(&t->ends);
	free(t);
	return 0;
}

/* ---- events ---- */

static void add(struct test *t, struct event ev)
{
	assert_int_equal(thread_states_add(t->states, &ev), 0);
}

struct sw {
	uint32_t cpu, out, in;
	uint8_t state;
	char letter;
	bool synthetic;
};

static void sw(struct test *t, uint64_t ts, struct sw w)
{
	add(t, (struct event){ .kind = EVENT_SWITCH,
			       .ts_ns = ts,
			       .cpu = w.cpu,
			       .tid = w.out,
			       .sw = { .next_tid = w.in,
				       .out_state = w.state,
				       .state = w.letter,
				       .synthetic = w.synthetic } });
}

static void wake(struct test *t, uint64_t ts, uint32_t tid, uint32_t waker)
{
	add(t,
	    (struct event){
		    .kind = EVENT_WAKE, .ts_ns = ts, .tid = tid, .wake = { .waker_tid = waker } });
}

static void migrate(struct test *t, uint64_t ts, uint32_t tid, uint32_t to)
{
	add(t,
	    (struct event){
		    .kind = EVENT_MIGRATE, .ts_ns = ts, .tid = tid, .migrate = { .to_cpu = to } });
}

static void lost(struct test *t, uint64_t ts, const char *class_name)
{
	add(t, (struct event){
		       .kind = EVENT_LOST, .ts_ns = ts, .lost = { .class_name = class_name } });
}

DEFINE_ORDER(compare_lines, struct line, COMPARE(x->tid, y->tid) ?: COMPARE(x->number, y->number))

/* The segments so far are TEXT, those of the lowest tid first; starts again. */
static void expect(struct test *t, const char *text)
{
	char *all = calloc(t->n_lines + 1, LINE_MAX_BYTES), *end = all;

	assert_non_null(all);
	SORT(t->lines, t->n_lines, compare_lines);
	for (size_t i = 0; i < t->n_lines; i++)
		end = stpcpy(end, t->lines[i].text);
	t->n_lines = 0;
	assert_string_equal(all, text);
	free(all);
}

static void expect_at_end(struct test *t, uint64_t end, const char *text)
{
	assert_int_equal(thread_states_finish(t->states, end), 0);
	expect(t, text);
	assert_true(t->in_order);
}

/* ---- tests ---- */

/* Runs, blocks, is woken, is moved, runs again, is preempted, ends. */
TEST(test_states)
{
	struct test *t = *state;

	sw(t, 100, (struct sw){ .in = 10, .synthetic = true });
	sw(t, 110, (struct sw){ .out = 10, .state = BLOCKED, .letter = 'D' });
	wake(t, 140, 10, 9);
	migrate(t, 140, 10, 3);
	expect(t, "10 running 100-110 cpu 0 earlier\n"
		  "10 blocked 110-140 cpu 0 D woken by 9\n");
	sw(t, 145, (struct sw){ .cpu = 3, .in = 10 });
	sw(t, 160, (struct sw){ .cpu = 3, .out = 10, .in = 11, .state = PREEMPTED });
	sw(t, 170, (struct sw){ .cpu = 3, .out = 11, .in = 10, .state = BLOCKED });
	sw(t, 190, (struct sw){ .cpu = 3, .out = 10, .state = DEAD });
	expect_at_end(t, 200,
		      "10 runnable 140-145 cpu 3 woken by 9 serves 140\n"
		      "10 running 145-160 cpu 3\n"
		      "10 runnable 160-170 cpu 3 preempted\n"
		      "10 running 170-190 cpu 3\n"
		      "10 dead 190-200 open\n"
		      "11 running 160-170 cpu 3\n"
		      "11 blocked 170-200 cpu 3 S open\n");
}

/* A thread that waits for a CPU, and is moved, waits for each CPU in turn. */
TEST(test_migrations)
{
	struct test *t = *state;

	sw(t, 0, (struct sw){ .in = 10 });
	sw(t, 20, (struct sw){ .out = 10, .state = BLOCKED });
	migrate(t, 25, 10, 2);
	wake(t, 30, 10, 8);
	migrate(t, 40, 10, 1);
	migrate(t, 45, 10, 1);
	migrate(t, 50, 10, 2);
	sw(t, 60, (struct sw){ .cpu = 2, .in = 10 });
	migrate(t, 65, 10, 1);
	sw(t, 70, (struct sw){ .cpu = 2, .out = 10, .state = PREEMPTED });
	migrate(t, 80, 10, 1);
	lost(t, 85, "sched");
	migrate(t, 90, 10, 0);
	expect_at_end(t, 100,
		      "10 running 0-20 cpu 0\n"
		      "10 blocked 20-30 cpu 0 S woken by 8\n"
		      "10 runnable 30-40 cpu 0 woken by 8 split\n"
		      "10 runnable 40-50 cpu 1 woken by 8 continued split\n"
		      "10 runnable 50-60 cpu 2 woken by 8 serves 30 continued\n"
		      "10 running 60-70 cpu 2\n"
		      "10 runnable 70-80 cpu 2 preempted split\n"
		      "10 runnable 80-85 cpu 1 preempted continued gap\n"
		      "10 unknown 85-100 open\n");
}

/* A wakeup of a running or runnable thread changes nothing, nor does one by the idle thread. */
TEST(test_wakeups)
{
	struct test *t = *state;

	sw(t, 0, (struct sw){ .in = 10 });
	wake(t, 10, 10, 8);
	sw(t, 20, (struct sw){ .out = 10, .state = BLOCKED });
	wake(t, 30, 10, 0);
	wake(t, 40, 10, 8);
	sw(t, 50, (struct sw){ .in = 10 });
	expect_at_end(t, 60,
		      "10 running 0-20 cpu 0\n"
		      "10 blocked 20-30 cpu 0 S woken by 0\n"
		      "10 runnable 30-50 cpu 0 woken by 0 serves 30\n"
		      "10 running 50-60 cpu 0 open\n");
}

/* A wakeup whose record is before the switch-out in time, but after it in the file. */
TEST(test_early_wakeup)
{
	struct test *t = *state;

	sw(t, 0, (struct sw){ .in = 10 });
	sw(t, 20, (struct sw){ .out = 10, .state = BLOCKED });
	wake(t, 15, 10, 8);
	sw(t, 50, (struct sw){ .in = 10 });
	expect_at_end(t, 60,
		      "10 running 0-20 cpu 0\n"
		      "10 blocked 20-20 cpu 0 S woken by 8\n"
		      "10 runnable 20-50 cpu 0 woken by 8 serves 15\n"
		      "10 running 50-60 cpu 0 open\n");
}

/* The switch-out comes after the switch-in elsewhere: the run waits for its end. */
TEST(test_late_switch_out)
{
	struct test *t = *state;

	sw(t, 0, (struct sw){ .in = 10 });
	sw(t, 120, (struct sw){ .cpu = 1, .in = 10 });
	expect(t, "");
	sw(t, 100, (struct sw){ .out = 10, .state = PREEMPTED });
	sw(t, 200, (struct sw){ .cpu = 1, .out = 10, .state = BLOCKED });
	expect_at_end(t, 210,
		      "10 running 0-100 cpu 0\n"
		      "10 runnable 100-120 cpu 0 preempted\n"
		      "10 running 120-200 cpu 1\n"
		      "10 blocked 200-210 cpu 1 S open\n");
}

/* The switch-out never comes: the end of the run is unknown. */
TEST(test_missing_switch_out)
{
	struct test *t = *state;

	sw(t, 0, (struct sw){ .in = 10 });
	sw(t, 120, (struct sw){ .cpu = 1, .in = 10 });
	sw(t, 130, (struct sw){ .cpu = 2, .in = 10 });
	sw(t, 140, (struct sw){ .cpu = 2, .in = 10 });
	sw(t, 200, (struct sw){ .cpu = 2, .out = 10, .state = BLOCKED });
	expect_at_end(t, 200,
		      "10 running 0-120 cpu 0 gap\n"
		      "10 running 120-130 cpu 1 gap\n"
		      "10 running 130-140 cpu 2 gap\n"
		      "10 running 140-200 cpu 2\n"
		      "10 blocked 200-200 cpu 2 S open\n");
}

/* After a loss, the state of a thread is unknown until its next event. */
TEST(test_loss)
{
	struct test *t = *state;
	struct thread_now now;

	sw(t, 0, (struct sw){ .in = 10, .synthetic = true });
	sw(t, 10, (struct sw){ .cpu = 1, .out = 11, .state = BLOCKED });
	lost(t, 20, "stacks");
	assert_true(thread_states_get(t->states, 11, &now));
	assert_true(now.known && now.state == THREAD_BLOCKED && now.since_ns == 10);
	lost(t, 50, "sched");
	lost(t, 60, "sched");
	assert_true(thread_states_get(t->states, 11, &now));
	assert_false(now.known);
	assert_false(thread_states_get(t->states, 12, &now));
	sw(t, 50, (struct sw){ .out = 10, .state = PREEMPTED, .synthetic = true });
	wake(t, 70, 11, 9);
	lost(t, 80, "sched");
	sw(t, 90, (struct sw){ .cpu = 1, .in = 11 });
	expect_at_end(t, 100,
		      "10 running 0-50 cpu 0 earlier gap\n"
		      "10 unknown 50-50 gap\n"
		      "10 unknown 50-80 gap\n"
		      "10 unknown 80-100 open\n"
		      "11 blocked 10-50 cpu 1 S gap\n"
		      "11 unknown 50-70\n"
		      "11 runnable 70-80 cpu 0 woken by 9 gap\n"
		      "11 unknown 80-90\n"
		      "11 running 90-100 cpu 1 open\n");
}

/* Of very many losses, threads get to know the first one. */
TEST(test_many_losses)
{
	struct test *t = *state;

	sw(t, 0, (struct sw){ .in = 10 });
	for (uint64_t i = 0; i < 20000; i++) {
		if (i == 10000)
			sw(t, 10000, (struct sw){ .cpu = 1, .in = 11 });
		lost(t, 10 + i, "sched");
	}
	expect(t, "10 running 0-10 cpu 0 gap\n"
		  "11 running 10000-10010 cpu 1 gap\n");
	sw(t, 90000, (struct sw){ .out = 10, .in = 11, .state = BLOCKED });
	expect_at_end(t, 90000,
		      "10 unknown 10-90000\n"
		      "10 blocked 90000-90000 cpu 0 S open\n"
		      "11 unknown 10010-90000\n"
		      "11 running 90000-90000 cpu 0 open\n");
}

/* No state continues in a pause. Records from after it can precede its end in the file. */
TEST(test_pause)
{
	struct test *t = *state;

	sw(t, 0, (struct sw){ .in = 10 });
	sw(t, 10, (struct sw){ .cpu = 1, .out = 11, .state = BLOCKED });
	sw(t, 10, (struct sw){ .cpu = 2, .out = 12, .state = DEAD });
	wake(t, 30, 11, 9);
	sw(t, 90, (struct sw){ .cpu = 3, .in = 13 });
	assert_int_equal(thread_states_pause(t->states, 40, 80), 0);
	sw(t, 100, (struct sw){ .in = 11 });
	expect(t, "10 running 0-40 cpu 0 pause\n"
		  "10 unknown 40-80 pause\n"
		  "11 blocked 10-30 cpu 1 S woken by 9\n"
		  "11 runnable 30-40 cpu 0 woken by 9 pause\n"
		  "11 unknown 40-80 pause\n"
		  "11 unknown 80-100\n");
	assert_true(t->in_order);
}

/* Another program of the same thread, and the same program under another id. */
TEST(test_exec)
{
	const struct thread_rename rename = { 10, 20, 50, .runs = true };
	const struct thread_rename sleeping = { 11, 21, 60 };
	struct test *t = *state;
	struct thread_now now;

	sw(t, 0, (struct sw){ .cpu = 1, .in = 10 });
	assert_int_equal(thread_states_split(t->states, 10, 30), 0);
	assert_int_equal(thread_states_split(t->states, 10, 30), 0);
	assert_int_equal(thread_states_split(t->states, 12, 30), 0);
	assert_int_equal(thread_states_rename(t->states, &rename), 0);
	assert_int_equal(thread_states_rename(t->states, &sleeping), 0);
	assert_false(thread_states_get(t->states, 21, &now));
	sw(t, 90, (struct sw){ .cpu = 1, .out = 20, .state = BLOCKED });
	thread_states_forget(t->states, 11);
	expect_at_end(t, 100,
		      "10 running 0-30 cpu 1 split\n"
		      "10 running 30-50 cpu 1 continued\n"
		      "10 dead 50-100 open\n"
		      "12 unknown 30-100 open\n"
		      "20 running 50-90 cpu 1\n"
		      "20 blocked 90-100 cpu 1 S open\n");
}

/* Slices that the recording has begun and ended. */
TEST(test_synthetic)
{
	struct test *t = *state;

	sw(t, 0, (struct sw){ .in = 10, .synthetic = true });
	sw(t, 20, (struct sw){ .cpu = 1, .in = 10 });
	sw(t, 30, (struct sw){ .cpu = 1, .out = 10, .synthetic = true });
	expect_at_end(t, 40,
		      "10 running 0-20 cpu 0 earlier gap\n"
		      "10 running 20-30 cpu 1 gap\n"
		      "10 unknown 30-40 open\n");
}

/* The idle thread and "other" have no segments, and impossible CPUs are ignored. */
TEST(test_ignored)
{
	struct test *t = *state;

	sw(t, 0, (struct sw){ .in = FXT_KOID_OTHER });
	sw(t, 1, (struct sw){ .out = FXT_KOID_OTHER, .state = PREEMPTED });
	sw(t, 2, (struct sw){ .cpu = FXT_CPU_MAX + 1, .in = 10 });
	wake(t, 3, 0, 9);
	migrate(t, 4, 10, 1);
	expect_at_end(t, 10, "");
}

/* Open segments can be seen without an end of them. */
TEST(test_peek)
{
	struct test *t = *state;

	sw(t, 0, (struct sw){ .in = 10 });
	sw(t, 60, (struct sw){ .in = 11 });
	assert_int_equal(thread_states_peek(t->states, 50, on_segment, t), 0);
	expect(t, "10 running 0-50 cpu 0 open\n");
	table_deinit(&t->ends);
	sw(t, 80, (struct sw){ .cpu = 1, .in = 10 });
	assert_int_equal(thread_states_peek(t->states, 90, on_segment, t), 0);
	expect(t, "10 running 0-80 cpu 0 gap\n"
		  "10 running 80-90 cpu 1 open\n"
		  "11 running 60-90 cpu 0 open\n");
}

/* Any events in any order: segments of a thread follow each other. */
TEST(test_random)
{
	struct test *t = *state;
	unsigned seed = 1;

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t ts = i + (uint64_t)(rand_r(&seed) % 30);
		uint32_t tid = 1 + (uint32_t)(rand_r(&seed) % 6),
			 cpu = (uint32_t)(rand_r(&seed) % 3);
		struct sw w = { .cpu = cpu,
				.out = rand_r(&seed) % 2 ? tid : 0,
				.in = (uint32_t)(rand_r(&seed) % 7),
				.state = (uint8_t)(rand_r(&seed) % 7),
				.synthetic = rand_r(&seed) % 20 == 0 };

		switch (rand_r(&seed) % 100) {
		case 0:
			lost(t, ts, "sched");
			break;
		case 1:
			assert_int_equal(thread_states_pause(t->states, i, ts), 0);
			break;
		case 2:
			assert_int_equal(thread_states_split(t->states, tid, ts), 0);
			break;
		case 3:
			add(t, (struct event){ .kind = EVENT_DAMAGE });
			break;
		case 4 ... 10:
			migrate(t, ts, tid, cpu);
			break;
		case 11 ... 30:
			wake(t, ts, tid, w.in);
			break;
		default:
			sw(t, ts, w);
		}
	}
	assert_int_equal(thread_states_finish(t->states, 21000), 0);
	assert_true(t->in_order);
	assert_int_equal(t->ends.n_used, 6);
}

#define WITH_STATES(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_STATES(test_states),
		WITH_STATES(test_migrations),
		WITH_STATES(test_wakeups),
		WITH_STATES(test_early_wakeup),
		WITH_STATES(test_late_switch_out),
		WITH_STATES(test_missing_switch_out),
		WITH_STATES(test_loss),
		WITH_STATES(test_many_losses),
		WITH_STATES(test_pause),
		WITH_STATES(test_exec),
		WITH_STATES(test_ignored),
		WITH_STATES(test_peek),
		WITH_STATES(test_synthetic),
		WITH_STATES(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
