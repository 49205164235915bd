/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cut is self-contained at both ends, and contains nothing from outside.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/unit.h"

enum { WALL = 1700000000 };

/* Removes the lines of TEXT that contain PART. */
static void remove_lines(char *text, const char *part)
{
	for (char *at; (at = strstr(text, part)) != NULL;) {
		char *end = strchr(at, '\n') + 1;

		while (at > text && at[-1] != '\n')
			at--;
		memmove(at, end, strlen(end) + 1);
	}
}

/* Two CPUs from 100 to 900. */
static void make(struct source *s)
{
	source_init(s);
	put_start(s, 100, "box", 2, WALL);
	put_task(s, 5, "five", 1);
	put_task(s, 6, "six", 1);
	put_task(s, 7, "seven", 5);
	put_switch(s, 100, 0, 0, 5, FXT_STATE_RUNNING);
	put_switch(s, 100, 1, 0, 0, FXT_STATE_RUNNING);
	as_app(s);
	put_event(s, FXT_EVENT_DURATION_BEGIN, 150, 5, "c", "outer", 0);
	put_event(s, FXT_EVENT_DURATION_COMPLETE, 160, 5, "c", "whole", 800);
	put_event(s, FXT_EVENT_DURATION_BEGIN, 170, 5, "c", "inner", 0);
	put_event(s, FXT_EVENT_DURATION_COMPLETE, 180, 6, "c", "before", 190);
	put_event(s, FXT_EVENT_COUNTER, 200, 6, "c", "n", 1);
	put_event(s, FXT_EVENT_COUNTER, 210, 6, "c", "n", 1);
	as_kymo(s);
	put_switch(s, 300, 0, 5, 6, FXT_STATE_RUNNING);
	put_switch(s, 350, 1, 0, 7, FXT_STATE_RUNNING);
	/* The cut is from 400 to 600. */
	put_switch(s, 450, 0, 6, 5, FXT_STATE_BLOCKED);
	as_app(s);
	put_event(s, FXT_EVENT_DURATION_END, 460, 5, "c", "inner", 0);
	put_event(s, FXT_EVENT_DURATION_COMPLETE, 500, 7, "c", "late", 700);
	as_kymo(s);
	put_switch(s, 600, 0, 5, 0, FXT_STATE_BLOCKED);
	as_app(s);
	put_event(s, FXT_EVENT_DURATION_END, 750, 5, "c", "outer", 0);
	as_kymo(s);
	put_switch(s, 900, 1, 7, 0, FXT_STATE_RUNNING);
	put_stop(s, 900);
}

/* At both ends: names, running threads, open intervals, counters, the clock, the session. */
TEST(test_cut_both_ends)
{
	_cleanup_free_ char *text = NULL;
	struct source s;

	make(&s);
	text = cut_text(&s.bytes, &(struct edit_cut_options){ .from_ns = 300, .to_ns = 500 });
	remove_lines(text, "kymo/part");
	assert_string_equal(
		text,
		"kymo: process 4194304 'kymo'\n"
		"kymo: thread 4194304 'kymo' process:koid=4194304\n"
		"kymo: process 5 'five' parent:koid=1\n"
		"kymo: thread 5 'five' process:koid=5\n"
		"kymo: process 6 'six' parent:koid=1\n"
		"kymo: thread 6 'six' process:koid=6\n"
		"kymo: process 7 'seven' parent:koid=5\n"
		"kymo: thread 7 'seven' process:koid=7\n"
		"app: 400 counter c/n 6/6 id 1\n"
		"kymo: 400 instant kymo/session_start 4194304/4194304 host:string=box cpus:uint32=2"
		" filtered:bool=0\n"
		"kymo: 400 instant kymo/clock 4194304/4194304 boottime:uint64=400"
		" monotonic:uint64=400 realtime:uint64=1700000400\n"
		"kymo: 400 cpu0 0>6 running *\n"
		"kymo: 400 cpu1 0>7 running *\n"
		"app: 400 begin c/outer 5/5\n"
		"app: 400 complete c/whole 5/5 ..600 began at:uint64=160 ends at:uint64=800\n"
		"app: 400 begin c/inner 5/5\n"
		"kymo: 450 cpu0 6>5 blocked\n"
		"app: 460 end c/inner 5/5\n"
		"app: 500 complete c/late 7/7 ..600 ends at:uint64=700\n"
		"kymo: 600 cpu0 5>0 running *\n"
		"kymo: 600 cpu1 7>0 running *\n"
		"app: 600 end c/outer 5/5\n"
		"kymo: 600 instant kymo/clock 4194304/4194304 boottime:uint64=600"
		" monotonic:uint64=600 realtime:uint64=1700000600\n"
		"kymo: 600 instant kymo/session_stop 4194304/4194304 reason:string=cut"
		" events:uint64=3 lost:uint64=0 dismissed:uint64=0 unreported:uint64=0"
		" bytes:uint64=0 daemon_cpu:uint64=0 bpf_cpu:uint64=0\n");
	source_deinit(&s);
}

/* The duration of a call or a wait is unknown if one of its ends is cut off. */
TEST(test_cut_calls)
{
	const struct fxt_out_arg earlier = { .type = FXT_ARG_STRING,
					     .name = fxt_named(FXT_NAME_BEGUN),
					     .text = fxt_inline("earlier") };
	const struct fxt_event waiting = { .type = FXT_EVENT_DURATION_COMPLETE,
					   .category = fxt_interned("profile"),
					   .name = fxt_interned("offcpu"),
					   .ts_ticks = 320,
					   .thread = { 8, 8 },
					   .id = 440,
					   .args = &earlier,
					   .n_args = 1 };
	const struct fxt_out_arg unwound = { .type = FXT_ARG_STRING,
					     .name = fxt_named(FXT_NAME_LEFT_BY),
					     .text = fxt_inline("unwound") };
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	put_start(&s, 100, "box", 2, WALL);
	put_task(&s, 5, "five", 1);
	put_event(&s, FXT_EVENT_DURATION_COMPLETE, 150, 5, "calls", "over", 800);
	put_event(&s, FXT_EVENT_DURATION_COMPLETE, 160, 5, "calls", "before", 450);
	put_event(&s, FXT_EVENT_DURATION_COMPLETE, 200, 5, "calls", "earlier", 300);
	put_event(&s, FXT_EVENT_DURATION_COMPLETE, 300, 6, "profile", "offcpu", 430);
	put_event(&s, FXT_EVENT_DURATION_COMPLETE, 310, 7, "profile", "offcpu", 900);
	OK(fxt_write_event(&s.w, &waiting));
	put_event(&s, FXT_EVENT_DURATION_COMPLETE, 410, 5, "calls", "whole", 420);
	put_event(&s, FXT_EVENT_DURATION_COMPLETE, 500, 5, "calls", "behind", 700);
	put_event(&s, FXT_EVENT_DURATION_COMPLETE, 590, 5, "profile", "offcpu", 700);
	put_event_args(&s, 595, 5, "calls", "no call", &unwound, 1);
	put_stop(&s, 900);
	text = cut_text(&s.bytes, &(struct edit_cut_options){
					  .from_ns = 400, .to_ns = 600, .absolute = true });
	assert_line(
		text,
		"kymo: 400 complete calls/over 5/5 ..600 began at:uint64=150 ends at:uint64=800 left by:string=open");
	assert_line(
		text,
		"kymo: 400 complete calls/before 5/5 ..450 began at:uint64=160 left by:string=cut");
	assert_int_equal(count_lines(text, "calls/earlier"), 0);
	assert_line(
		text,
		"kymo: 400 complete profile/offcpu 6/6 ..430 began at:uint64=300 begun:string=earlier");
	assert_line(
		text,
		"kymo: 400 complete profile/offcpu 7/7 ..600 began at:uint64=310 ends at:uint64=900 left by:string=open"
		" begun:string=earlier");
	assert_line(
		text,
		"kymo: 400 complete profile/offcpu 8/8 ..440 begun:string=earlier began at:uint64=320");
	assert_line(text, "kymo: 410 complete calls/whole 5/5 ..420");
	assert_line(
		text,
		"kymo: 500 complete calls/behind 5/5 ..600 ends at:uint64=700 left by:string=open");
	assert_line(
		text,
		"kymo: 590 complete profile/offcpu 5/5 ..600 ends at:uint64=700 left by:string=open");
	assert_line(text, "kymo: 595 instant calls/no call 5/5 left by:string=unwound");
	source_deinit(&s);
}

/* The whole archive, and both open ends. */
TEST(test_cut_open_ends)
{
	_cleanup_free_ char *all = NULL, *from = NULL, *to = NULL;
	struct source s;

	make(&s);
	all = cut_text(&s.bytes, &(struct edit_cut_options){ .to_ns = UINT64_MAX });
	assert_line(all, "kymo: 100 cpu0 0>5 running");
	assert_line(all, "kymo: 900 cpu1 7>0 running");
	assert_int_equal(count_lines(all, " *"), 0);
	from = cut_text(&s.bytes, &(struct edit_cut_options){
					  .from_ns = 600, .to_ns = UINT64_MAX, .absolute = true });
	assert_line(from, "kymo: 600 cpu0 0>5 running *");
	assert_line(from, "kymo: 600 cpu0 5>0 blocked");
	assert_line(from, "app: 600 complete c/whole 5/5 ..800 began at:uint64=160");
	to = cut_text(&s.bytes, &(struct edit_cut_options){ .to_ns = 600, .absolute = true });
	assert_line(to, "kymo: 600 cpu0 5>0 running *");
	assert_no_line(to, "kymo: 600 cpu0 5>0 blocked");
	assert_line(to, "app: 160 complete c/whole 5/5 ..600 ends at:uint64=800");
	source_deinit(&s);
}

/* A process with its child: the rest is "other", and the session says that it is filtered. */
TEST(test_cut_process)
{
	const uint32_t pids[] = { 5 };
	_cleanup_free_ char *text = NULL;
	struct source s;

	make(&s);
	text = cut_text(&s.bytes,
			&(struct edit_cut_options){
				.from_ns = 300, .to_ns = 500, .pids = pids, .n_pids = 1 });
	assert_line(text, "kymo: thread 4325376 'other cpu 0' process:koid=4325376");
	assert_line(text, "kymo: 400 cpu0 0>4325376 running *");
	assert_line(text, "kymo: 450 cpu0 4325376>5 running");
	assert_line(text, "kymo: 400 cpu1 0>7 running *");
	assert_int_equal(count_lines(text, "six"), 0);
	assert_int_equal(count_lines(text, "counter"), 0);
	assert_int_equal(count_lines(text, "filtered:bool=1"), 1);
	source_deinit(&s);
}

TEST(test_cut_cpu)
{
	const bool cpus[] = { false, true };
	_cleanup_free_ char *text = NULL;
	struct source s;

	make(&s);
	text = cut_text(&s.bytes,
			&(struct edit_cut_options){
				.from_ns = 300, .to_ns = 500, .cpus = cpus, .n_cpus = 2 });
	assert_int_equal(count_lines(text, "cpu0"), 0);
	assert_line(text, "kymo: 400 cpu1 0>7 running *");
	assert_line(text, "app: 500 complete c/late 7/7 ..600 ends at:uint64=700");
	source_deinit(&s);
}

/* A thread that ran elsewhere between two wakeups would be woken twice. */
TEST(test_cut_cpu_woken_twice)
{
	const bool cpus[] = { true };
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	put_start(&s, 100, "box", 2, 0);
	put_task(&s, 5, "five", 0);
	for (unsigned ts = 200; ts < 500; ts += 100) {
		put_wakeup(&s, ts, 0, 5);
		put_switch(&s, ts + 10, ts == 300, 0, 5, FXT_STATE_RUNNING);
		put_switch(&s, ts + 20, ts == 300, 5, 0, FXT_STATE_BLOCKED);
	}
	put_stop(&s, 600);
	text = cut_text(&s.bytes, &(struct edit_cut_options){
					  .to_ns = UINT64_MAX, .cpus = cpus, .n_cpus = 1 });
	assert_line(text, "kymo: 200 wake 5 @0");
	assert_line(text, "kymo: 300 wake 5 @0");
	assert_no_line(text, "kymo: 400 wake 5 @0");
	assert_line(text, "kymo: 410 cpu0 0>5 running");
	source_deinit(&s);
}

/* A thread whose exit is before the cut, and whose last switch is in it, has a name. */
TEST(test_cut_dying_thread)
{
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	put_start(&s, 100, "box", 1, WALL);
	put_task(&s, 5, "five", 1);
	put_switch(&s, 100, 0, 0, 5, FXT_STATE_RUNNING);
	put_event_args(&s, 200, 5, "process", "exit",
		       &(struct fxt_out_arg){ FXT_ARG_BOOL, fxt_interned("process_ends"),
					      .boolean = true },
		       1);
	put_switch(&s, 220, 0, 5, 0, FXT_STATE_DEAD);
	put_stop(&s, 300);
	text = cut_text(&s.bytes, &(struct edit_cut_options){
					  .from_ns = 210, .to_ns = UINT64_MAX, .absolute = true });
	assert_line(text, "kymo: thread 5 'five' process:koid=5");
	assert_line(text, "kymo: 220 cpu0 5>0 dead");
	source_deinit(&s);
}

/* A name that is given soon after the start of the cut does not replace the one at its start. */
TEST(test_cut_renamed)
{
	_cleanup_free_ char *text = NULL;
	const char *old, *new;
	struct source s;

	source_init(&s);
	put_start(&s, 100, "box", 1, WALL);
	put_task(&s, 5, "old", 1);
	put_switch(&s, 110, 0, 0, 5, FXT_STATE_RUNNING);
	put_switch(&s, 200, 0, 5, 0, FXT_STATE_RUNNING);
	put_task(&s, 5, "new", 1);
	put_switch(&s, 300, 0, 0, 5, FXT_STATE_RUNNING);
	put_stop(&s, 400);
	text = cut_text(&s.bytes, &(struct edit_cut_options){
					  .from_ns = 150, .to_ns = UINT64_MAX, .absolute = true });
	old = strstr(text, "thread 5 'old'");
	new = strstr(text, "thread 5 'new'");
	assert_true(old && new &&old < strstr(text, "200 cpu0") && new > strstr(text, "200 cpu0"));
	source_deinit(&s);
}

/* Threads of ended processes are not named, also those whose exit is in an earlier chunk. */
TEST(test_cut_ended_process)
{
	const uint64_t second = 1000000000;
	const struct fxt_out_arg ends = { FXT_ARG_BOOL, fxt_interned("process_ends"),
					  .boolean = true };
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	put_start(&s, 100, "box", 1, WALL);
	put_task(&s, 5, "five", 1);
	put_thread(&s, 5, 6, "six");
	put_task(&s, 8, "eight", 1);
	put_task(&s, 9, "nine", 1);
	OK(fxt_write_event(&s.w, &(struct fxt_event){ .category = fxt_interned("process"),
						      .name = fxt_interned("exit"),
						      .ts_ticks = 200,
						      .thread = { 5, 6 },
						      .args = &ends,
						      .n_args = 1 }));
	put_event_args(&s, 2 * second, 9, "process", "exit", &ends, 1);
	put_stop(&s, 3 * second);
	text = cut_text(&s.bytes, &(struct edit_cut_options){ .from_ns = 2 * second + 1,
							      .to_ns = UINT64_MAX,
							      .absolute = true });
	assert_int_equal(count_lines(text, "'five'") + count_lines(text, "'six'"), 0);
	assert_int_equal(count_lines(text, "'eight'"), 2);
	assert_int_equal(count_lines(text, "'nine'"), 2);
	source_deinit(&s);
}

/* Times near the limits of 64 bits, in every phase. */
TEST(test_cut_extreme_times)
{
	const struct edit_cut_options list[] = {
		{ .from_ns = UINT64_MAX, .to_ns = UINT64_MAX },
		{ .from_ns = UINT64_MAX, .to_ns = UINT64_MAX, .absolute = true },
		{ .from_ns = 1, .to_ns = 2, .absolute = true },
		{ .to_ns = UINT64_MAX },
		{ .from_ns = 5, .to_ns = UINT64_MAX - 1 },
	};
	struct source s;

	source_init(&s);
	put_start(&s, 0, "box", 1, 0);
	put_switch(&s, 0, 0, 0, 5, FXT_STATE_RUNNING);
	as_app(&s);
	put_event(&s, FXT_EVENT_DURATION_COMPLETE, 0, 5, "c", "n", UINT64_MAX);
	put_event(&s, FXT_EVENT_DURATION_COMPLETE, UINT64_MAX, 5, "c", "n", UINT64_MAX);
	as_kymo(&s);
	put_switch(&s, UINT64_MAX, 0, 5, 0, FXT_STATE_RUNNING);
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		_cleanup_free_ char *text = cut_text(&s.bytes, &list[i]);

		assert_null(strstr(text, "damage"));
	}
	source_deinit(&s);
}

/*
 * Records that a flight recorder dropped are missing in each piece, also in one that ends before
 * the loss is reported.
 */
TEST(test_cut_flight_recorder)
{
	const struct fxt_out_arg full = { FXT_ARG_UINT64, fxt_interned("full"), .u64 = 4096 };
	const uint64_t ends[] = { 300, 600, UINT64_MAX };
	struct source s;

	source_init(&s);
	put_start(&s, 100, "box", 1, WALL);
	put_switch(&s, 100, 0, 0, 5, FXT_STATE_RUNNING);
	put_switch(&s, 500, 0, 5, 0, FXT_STATE_RUNNING);
	put_event_args(&s, 600, FXT_KOID_KYMO, "kymo", "session_stop", &full, 1);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		_cleanup_free_ char *text =
			cut_text(&s.bytes, &(struct edit_cut_options){ .from_ns = 200,
								       .to_ns = ends[i],
								       .absolute = true });

		assert_int_equal(count_lines(text, "kymo/session_stop"), 1);
		assert_int_equal(count_lines(text, i == 0 ? "kymo: 300 instant kymo/session_stop"
							  : "kymo: 600 instant kymo/session_stop"),
				 1);
		assert_int_equal(count_lines(text, " full:uint64=4096"), 1);
	}
	source_deinit(&s);
}

/* A stack of allocations from before the cut that is reported within it belongs to its begin. */
TEST(test_cut_late_stack)
{
	static const uint64_t frames[] = { 0x1000 };
	const struct fxt_out_arg id = { FXT_ARG_UINT64, fxt_interned("id"), .u64 = 7 };
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	put_start(&s, 100, "box", 1, WALL);
	put_task(&s, 5, "five", 1);
	put_switch(&s, 120, 0, 0, 5, FXT_STATE_RUNNING);
	put_switch(&s, 300, 0, 5, 0, FXT_STATE_RUNNING);
	put_event_args(&s, 150, 5, "memory", "stack", &id, 1);
	for (unsigned i = 0; i < 2; i++) /* the second one is a sample */
		assert_int_equal(fxt_write_backtrace(&s.w,
						     &(struct fxt_backtrace){ .ts_ticks = 150,
									      .thread = { 5, 5 },
									      .frames = frames,
									      .n_frames = 1 }),
				 0);
	put_stop(&s, 400);
	text = cut_text(&s.bytes, &(struct edit_cut_options){
					  .from_ns = 200, .to_ns = UINT64_MAX, .absolute = true });
	if (count_lines(text, "200 instant memory/stack") != 1 ||
	    count_lines(text, "200 backtrace") != 1 || count_lines(text, " 150 ") != 0)
		fail_msg("%s", text);
	source_deinit(&s);
}

/* A complete event can end after the last record, and the durations around it end with it. What
 * the cut adds at its end is not before. Threads run until the last record only. */
TEST(test_cut_end_around)
{
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	put_start(&s, 100, "box", 1, WALL);
	put_task(&s, 5, "five", 1);
	put_switch(&s, 105, 0, 0, 5, FXT_STATE_RUNNING);
	as_app(&s);
	put_event(&s, FXT_EVENT_DURATION_BEGIN, 110, 5, "c", "outer", 0);
	put_event(&s, FXT_EVENT_DURATION_BEGIN, 120, 6, "c", "other", 0);
	put_event(&s, FXT_EVENT_DURATION_COMPLETE, 130, 5, "c", "whole", 400);
	put_event(&s, FXT_EVENT_DURATION_COMPLETE, 140, 6, "c", "longer", 500);
	text = cut_text(&s.bytes, &(struct edit_cut_options){ .to_ns = UINT64_MAX });
	assert_line(text, "app: 400 end c/outer 5/5");
	assert_line(text, "app: 500 end c/other 6/6");
	assert_line(text, "kymo: 140 cpu0 5>0 running *");
	assert_int_equal(count_lines(text, "kymo: 500 instant kymo/session_stop"), 1);
	assert_int_equal(count_lines(text, "kymo: 500 instant kymo/clock"), 1);
	assert_in_order(text);
	source_deinit(&s);
}

/* The same, if the complete event began before the cut. */
TEST(test_cut_end_around_across)
{
	static const struct {
		uint64_t to_ns;
		const char *event, *end;
	} rows[] = {
		{ UINT64_MAX, "app: 200 complete c/whole 5/5 ..500 began at:uint64=120",
		  "app: 500 end c/outer 5/5" },
		{ 400, "app: 200 complete c/whole 5/5 ..300 began at:uint64=120",
		  "app: 300 end c/outer 5/5" },
		{ 250, "app: 200 complete c/whole 5/5 ..250 began at:uint64=120 ends at:uint64=500",
		  "app: 250 end c/outer 5/5" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = NULL;
		struct source s;

		source_init(&s);
		put_start(&s, 100, "box", 1, WALL);
		put_task(&s, 5, "five", 1);
		as_app(&s);
		put_event(&s, FXT_EVENT_DURATION_BEGIN, 110, 5, "c", "outer", 0);
		put_event(&s, FXT_EVENT_DURATION_COMPLETE, 120, 5, "c", "whole",
			  i == 1 ? 300 : 500);
		put_event(&s, FXT_EVENT_INSTANT, 300, 6, "c", "last", 0);
		text = cut_text(&s.bytes, &(struct edit_cut_options){ .from_ns = 200,
								      .to_ns = rows[i].to_ns,
								      .absolute = true });
		assert_line(text, rows[i].event);
		assert_line(text, rows[i].end);
		assert_in_order(text);
		source_deinit(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_end_around),
		cmocka_unit_test(test_cut_end_around_across),
		cmocka_unit_test(test_cut_both_ends),
		cmocka_unit_test(test_cut_late_stack),
		cmocka_unit_test(test_cut_open_ends),
		cmocka_unit_test(test_cut_renamed),
		cmocka_unit_test(test_cut_process),
		cmocka_unit_test(test_cut_cpu),
		cmocka_unit_test(test_cut_dying_thread),
		cmocka_unit_test(test_cut_ended_process),
		cmocka_unit_test(test_cut_extreme_times),
		cmocka_unit_test(test_cut_flight_recorder),
		cmocka_unit_test(test_cut_cpu_woken_twice),
		cmocka_unit_test(test_cut_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
