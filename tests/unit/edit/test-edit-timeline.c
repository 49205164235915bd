/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The judgements of a timeline on scheduling records, and the switches that it adds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "edit/edit-timeline.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/unit.h"

/* Logs the actions of a timeline: "+" for an added switch, "-" for a dropped record. */
struct script {
	struct edit_timeline *timeline;
	char text[4096];
	size_t n;
};

static int write_down(void *userdata, const struct edit_switch *sw)
{
	struct script *s = userdata;

	s->n += (size_t)snprintf(s->text + s->n, sizeof(s->text) - s->n, "+%llu cpu%u %llu>%llu\n",
				 (unsigned long long)sw->ts_ns, sw->cpu,
				 (unsigned long long)sw->out_tid, (unsigned long long)sw->in_tid);
	return 0;
}

static void begin(struct script *s)
{
	*s = (struct script){ 0 };
	OK(edit_timeline_new(&s->timeline, write_down, s));
}

/* Compares the log, and ends. */
static void end(struct script *s, const char *expected)
{
	assert_string_equal(s->text, expected);
	edit_timeline_free(s->timeline);
}

static void verdict(struct script *s, int r, const char *what, uint64_t ts)
{
	assert_true(r >= 0);
	if (r == EDIT_TIMELINE_DROP)
		s->n += (size_t)snprintf(s->text + s->n, sizeof(s->text) - s->n, "-%s at %llu\n",
					 what, (unsigned long long)ts);
}

static void process_switch(struct script *s, uint64_t ts, uint16_t cpu, uint64_t out, uint64_t in)
{
	struct fxt_record r = { .type = FXT_RECORD_SCHEDULING,
				.subtype = FXT_SCHED_SWITCH,
				.ts_ns = ts,
				.sw = { .cpu = cpu, .out_tid = out, .in_tid = in } };

	verdict(s, edit_timeline_process(s->timeline, &r), "switch", ts);
}

static void process_wakeup(struct script *s, uint64_t ts, uint64_t tid)
{
	struct fxt_record r = { .type = FXT_RECORD_SCHEDULING,
				.subtype = FXT_SCHED_WAKEUP,
				.ts_ns = ts,
				.wake = { .tid = tid } };

	verdict(s, edit_timeline_process(s->timeline, &r), "wakeup", ts);
}

TEST(test_timeline_good)
{
	struct script s;

	begin(&s);
	process_switch(&s, 10, 0, 0, 5);
	process_wakeup(&s, 15, 6);
	process_switch(&s, 20, 0, 5, 6);
	process_wakeup(&s, 25, 5);
	process_switch(&s, 30, 1, 0, 5);
	process_switch(&s, 30, 0, 6, 0);
	assert_int_equal(edit_timeline_cpu_of(s.timeline, 5), 1);
	assert_int_equal(edit_timeline_cpu_of(s.timeline, 6), -1);
	end(&s, "");
}

/* Duplicate and late records, and wakeups of threads that run or were woken. */
TEST(test_timeline_drops)
{
	struct script s;

	begin(&s);
	process_switch(&s, 10, 0, 0, 5);
	process_switch(&s, 10, 0, 0, 5);
	process_wakeup(&s, 12, 5);
	process_wakeup(&s, 13, 6);
	process_wakeup(&s, 14, 6);
	process_switch(&s, 20, 0, 5, 6);
	process_switch(&s, 15, 0, 5, 7);
	end(&s, "-switch at 10\n-wakeup at 12\n-wakeup at 14\n-switch at 15\n");
}

/* A missing switch on a CPU: the running thread is switched out, and the next one in. */
TEST(test_timeline_missing)
{
	struct script s;

	begin(&s);
	process_switch(&s, 10, 0, 0, 5);
	process_switch(&s, 20, 0, 6, 7);
	end(&s, "+20 cpu0 5>0\n+20 cpu0 0>6\n");
}

/* A thread never runs in two places, also with added switches. */
TEST(test_timeline_two_places)
{
	struct script s;

	begin(&s);
	process_switch(&s, 10, 0, 5, 0);
	process_switch(&s, 10, 1, 0, 6);
	process_switch(&s, 20, 0, 6, 7); /* seems to be still on CPU 1 */
	process_switch(&s, 30, 2, 0, 8);
	process_switch(&s, 40, 2, 8, 0);
	process_switch(&s, 50, 0, 7, 0);
	process_switch(&s, 60, 0, 8, 0); /* could not be there since 50, but can since then */
	process_switch(&s, 70, 1, 0, 9);
	process_switch(&s, 80, 0, 0, 9);
	end(&s, "+20 cpu1 6>0\n+20 cpu0 0>6\n+50 cpu0 0>8\n+80 cpu1 9>0\n");
}

/*
 * A thread that ran before a gap is switched out at its begin, the one after it is switched in at
 * its end.
 */
TEST(test_timeline_gap)
{
	struct script s;

	begin(&s);
	process_switch(&s, 10, 0, 0, 5);
	process_switch(&s, 10, 1, 0, 6);
	process_wakeup(&s, 11, 8);
	edit_timeline_gap(s.timeline, 20, 30);
	process_switch(&s, 40, 0, 7, 0);
	process_wakeup(&s, 45, 6); /* asleep, so it was switched out */
	process_wakeup(&s, 46, 8); /* this one can have run, and slept until now */
	process_switch(&s, 50, 1, 8, 0);
	end(&s, "+20 cpu0 5>0\n+30 cpu0 0>7\n+20 cpu1 6>0\n-wakeup at 46\n+46 cpu1 0>8\n");
}

/* With several gaps, a CPU is unknown from the first one after its last switch. */
TEST(test_timeline_gaps)
{
	struct script s;

	begin(&s);
	process_switch(&s, 10, 0, 0, 5);
	process_switch(&s, 10, 1, 0, 6);
	edit_timeline_gap(s.timeline, 20, 30);
	process_switch(&s, 40, 1, 6, 7);
	edit_timeline_gap(s.timeline, 50, 60);
	edit_timeline_gap(s.timeline, 70, 80);
	process_switch(&s, 90, 0, 8, 0);
	process_switch(&s, 90, 1, 9, 0);
	end(&s, "+20 cpu0 5>0\n+80 cpu0 0>8\n+50 cpu1 7>0\n+80 cpu1 0>9\n");
}

TEST(test_timeline_open_close)
{
	struct script s;
	struct fxt_record noted = { .type = FXT_RECORD_SCHEDULING,
				    .subtype = FXT_SCHED_SWITCH,
				    .ts_ns = 10,
				    .sw = { .cpu = 3, .in_tid = 5 } };

	begin(&s);
	assert_int_equal(edit_timeline_note(s.timeline, &noted), EDIT_TIMELINE_KEEP);
	process_switch(&s, 20, FXT_CPU_MAX, 7, 0);
	OK(edit_timeline_open(s.timeline, 30));
	OK(edit_timeline_close(s.timeline, 40));
	OK(edit_timeline_close(s.timeline, 50));
	end(&s, "+30 cpu3 0>5\n+30 cpu65535 0>0\n+40 cpu3 5>0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timeline_good),
		cmocka_unit_test(test_timeline_drops),
		cmocka_unit_test(test_timeline_missing),
		cmocka_unit_test(test_timeline_two_places),
		cmocka_unit_test(test_timeline_gap),
		cmocka_unit_test(test_timeline_gaps),
		cmocka_unit_test(test_timeline_open_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
