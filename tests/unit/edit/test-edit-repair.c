/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A damaged archive becomes a complete one, and a good one is not changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/unit.h"

enum { WALL = 1700000000 };
static const uint64_t second = 1000000000;

/* Two CPUs, as kymo records them. Damage can be inserted anywhere between records. */
static void make(struct source *s, bool stop)
{
	source_init(s);
	put_start(s, 100, "box", 2, WALL);
	put_task(s, 5, "five", 1);
	put_task(s, 6, "six", 1);
	put_switch(s, 100, 0, 0, 5, FXT_STATE_RUNNING);
	put_switch(s, 100, 1, 0, 0, FXT_STATE_RUNNING);
	put_wakeup(s, 110, 1, 6);
	put_switch(s, 120, 1, 0, 6, FXT_STATE_RUNNING);
	put_switch(s, 130, 0, 5, 0, FXT_STATE_BLOCKED);
	as_app(s);
	put_event(s, FXT_EVENT_DURATION_BEGIN, 140, 6, "c", "n", 0);
	as_kymo(s);
	if (!stop)
		return;
	as_app(s);
	put_event(s, FXT_EVENT_DURATION_END, 150, 6, "c", "n", 0);
	as_kymo(s);
	put_switch(s, 160, 1, 6, 0, FXT_STATE_BLOCKED);
	put_stop(s, 170);
}

TEST(test_repair_good)
{
	_cleanup_free_ char *text = NULL, *source = NULL;
	struct edit_repair_counts c;
	struct source s;

	make(&s, true);
	text = repair_text(&s.bytes, &c);
	source = edited_text(&s.bytes);
	/* Objects come first; everything else keeps its place. */
	for (char *line = strtok(source, "\n"); line; line = strtok(NULL, "\n"))
		assert_line(text, line);
	assert_int_equal(c.switches_added + c.ends_added + c.scheduling_dropped + c.doubled +
				 c.ends_dropped + c.misplaced + c.damages + c.copied.refused,
			 0);
	assert_int_equal(c.stops_added, 0);
	assert_int_equal(count_lines(text, "another provider"), 0);
	source_deinit(&s);
}

/* A wrong bit in the ticks per second, or in the name of an argument, changes no time and no
 * switch of kymo. */
TEST(test_repair_head)
{
	/* (the magic number, a provider, its section, and the header have 5 words) */
	static const size_t places[] = { 5 * FXT_WORD_BYTES + 3, 7 * FXT_WORD_BYTES + 2 };
	_cleanup_free_ char *good = NULL;
	struct edit_repair_counts c;
	struct source s;

	make(&s, true);
	good = repair_text(&s.bytes, &c);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		_cleanup_free_ char *text = NULL, *lines = strdup(good);

		s.bytes.data[places[i]] ^= 4;
		text = repair_text(&s.bytes, &c);
		s.bytes.data[places[i]] ^= 4;
		for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"))
			if (!strstr(line, "kymo/part"))
				assert_line(text, line);
		assert_int_equal(c.damages, 1);
		assert_int_equal(c.odd_ticks, 0);
		assert_int_equal(count_lines(text, "kymo/damage"), 1);
	}
	source_deinit(&s);
}

/* The ticks of another program cannot be verified. */
TEST(test_repair_odd_ticks)
{
	struct edit_repair_counts c;
	struct source s;

	source_init(&s);
	OK(fxt_write_provider_info(&s.w, &s.app, "app"));
	OK(fxt_write_section(&s.w, &s.app));
	OK(fxt_write_initialization(&s.w, 7));
	put_event(&s, FXT_EVENT_INSTANT, 140, 6, "c", "n", 0);
	free(repair_text(&s.bytes, &c));
	assert_int_equal(c.odd_ticks, 7);
	source_deinit(&s);
}

/* Records that other readers would show wrongly are mended: mappings without their module, and
 * texts. */
TEST(test_repair_warnings)
{
	const struct fxt_out_thread thread = { 5, 5 };
	_cleanup_free_ char *text = NULL;
	struct edit_repair_counts c;
	struct source s;

	source_init(&s);
	put_start(&s, 100, "box", 1, WALL);
	put_task(&s, 5, "five", 1);
	OK(fxt_write_module(&s.w, &(struct fxt_module){ 110, thread, 1, "libc", "\1", 1 }));
	OK(fxt_write_mmap(&s.w, &(struct fxt_mmap){ 110, thread, 1, 5, 4096, 8192, 0 }));
	OK(fxt_write_mmap(&s.w, &(struct fxt_mmap){ 120, thread, 2, 5, 65536, 8192, 0 }));
	OK(fxt_write_mmap(&s.w, &(struct fxt_mmap){ 130, thread, 2, 5, 98304, 8192, 0 }));
	put_stop(&s, 140);
	text = repair_text(&s.bytes, &c);
	assert_int_equal(c.modules_lost, 1);
	assert_int_equal(count_lines(text, "module 2 ? "), 1);
	assert_int_equal(c.damages, 0);
	source_deinit(&s);
}

/* Each session without an end gets one. */
TEST(test_repair_sessions)
{
	_cleanup_free_ char *text = NULL;
	struct edit_repair_counts c;
	struct source s;

	source_init(&s);
	put_start_of(&s, 100, "a", "box", 1, 0);
	put_start_of(&s, 110, "b", "box", 1, 0);
	put_start_of(&s, 120, "c", "box", 1, 0);
	put_switch(&s, 130, 0, 0, 5, FXT_STATE_RUNNING);
	put_stop_of(&s, 150, "b");
	put_switch(&s, 200, 0, 5, 0, FXT_STATE_RUNNING);
	text = repair_text(&s.bytes, &c);
	assert_int_equal(c.stops_added, 2);
	assert_int_equal(count_lines(text, "session_stop"), 3);
	assert_int_equal(count_lines(text, "kymo: 200 instant kymo/session_stop"), 2);
	assert_int_equal(count_lines(text, " bpf_cpu:uint64=0 session:string=a"), 1);
	assert_int_equal(count_lines(text, " bpf_cpu:uint64=0 session:string=c"), 1);
	source_deinit(&s);
}

/* Open intervals are closed, and an end is added. */
TEST(test_repair_cut_off)
{
	_cleanup_free_ char *text = NULL;
	struct edit_repair_counts c;
	struct source s;

	make(&s, false);
	s.bytes.size -= 8; /* the section of kymo */
	OK(outbuf_append(&s.bytes, "\x54\0\0\0\0\0\0\0", 8));
	text = repair_text(&s.bytes, &c);
	assert_line(text, "app: 140 end c/n 6/6");
	assert_line(text, "kymo: 140 cpu1 6>0 running *");
	assert_int_equal(count_lines(text, "kymo: 140 instant kymo/session_stop 4194304/4194304 "
					   "reason:string=cut off events:uint64="),
			 1);
	assert_int_equal(count_lines(text, "kymo: 140 instant kymo/damage"), 1);
	assert_null(strstr(text, "damage: "));
	assert_int_equal(c.stops_added, 1);
	assert_int_equal(c.damages, 1);
	assert_int_equal(c.switches_added, 1);
	assert_int_equal(c.ends_added, 1);
	source_deinit(&s);
}

/*
 * A range of zeros: threads that ran before it are switched out at its begin, and those after it
 * are switched in at its end.
 */
TEST(test_repair_zeros)
{
	_cleanup_free_ char *text = NULL;
	struct edit_repair_counts c;
	struct source s;

	source_init(&s);
	put_start(&s, 100, "box", 1, WALL);
	put_switch(&s, 100, 0, 0, 5, FXT_STATE_RUNNING);
	put_wakeup(&s, 150, 0, 9);
	put_words(&s, (uint64_t[8]){ 0 }, 8);
	put_switch(&s, 200, 0, 6, 0, FXT_STATE_BLOCKED);
	put_stop(&s, 300);
	text = repair_text(&s.bytes, &c);
	assert_line(text, "kymo: 150 cpu0 5>0 running *");
	assert_line(text, "kymo: 200 cpu0 0>6 running *");
	assert_line(text, "kymo: 200 cpu0 6>0 blocked");
	assert_int_equal(count_lines(text, "kymo: 150 instant kymo/damage"), 1);
	assert_int_equal(c.damaged_bytes, 64);
	/* Their names are unknown, since they may have been in the range. */
	assert_line(text, "kymo: process 9 '?'");
	assert_line(text, "kymo: thread 9 '?' process:koid=9");
	assert_int_equal(c.names_lost, 6);
	assert_int_equal(c.switches_added, 2);
	source_deinit(&s);
}

TEST(test_repair_swapped_and_doubled)
{
	_cleanup_free_ char *text = NULL;
	struct edit_repair_counts c;
	struct source s;

	source_init(&s);
	put_switch(&s, 100, 0, 0, 5, FXT_STATE_RUNNING);
	put_switch(&s, 300, 0, 6, 0, FXT_STATE_BLOCKED);
	put_switch(&s, 200, 0, 5, 6, FXT_STATE_RUNNING);
	put_switch(&s, 200, 0, 5, 6, FXT_STATE_RUNNING);
	text = repair_text(&s.bytes, &c);
	assert_string_equal(text, "kymo: 100 cpu0 0>5 running\n"
				  "kymo: 200 cpu0 5>6 running\n"
				  "kymo: 300 cpu0 6>0 blocked\n"
				  "kymo: thread 6 '?' process:koid=6\n"
				  "kymo: thread 5 '?' process:koid=5\n"
				  "kymo: process 6 '?'\n"
				  "kymo: process 5 '?'\n");
	assert_int_equal(c.doubled, 1);
	assert_int_equal(c.switches_added, 0);
	source_deinit(&s);
}

/*
 * Without its weight, a switch would have another meaning: it is dropped, and the gap is repaired.
 */
TEST(test_repair_switch_with_bad_arguments)
{
	const uint64_t bad[] = { fxt_switch_header(5, 1, 0, 1), 200, 5, 6,
				 fxt_put_arg_type(FXT_ARG_INT32) };
	_cleanup_free_ char *text = NULL;
	struct edit_repair_counts c;
	struct source s;

	source_init(&s);
	put_switch(&s, 100, 0, 0, 5, FXT_STATE_RUNNING);
	put_words(&s, bad, ARRAY_SIZE(bad));
	put_switch(&s, 300, 0, 6, 0, FXT_STATE_BLOCKED);
	text = repair_text(&s.bytes, &c);
	assert_line(text, "kymo: 100 cpu0 5>0 running *");
	assert_line(text, "kymo: 300 cpu0 0>6 running *");
	assert_int_equal(c.damages, 1);
	source_deinit(&s);
}

static void put_weights(struct source *s, uint64_t ts, uint64_t out, int32_t out_weight,
			uint64_t in, int32_t in_weight)
{
	const struct fxt_out_arg args[] = {
		{ FXT_ARG_INT32, fxt_interned("outgoing_weight"), .i32 = out_weight },
		{ FXT_ARG_INT32, fxt_interned("incoming_weight"), .i32 = in_weight },
	};

	OK(fxt_write_switch(&s->w,
			    &(struct fxt_switch){ ts, 0, FXT_STATE_RUNNING, out, in, args, 2 }));
}

/*
 * Readers consider a thread with idle's weight idle: one changed bit, and a thread never stops to
 * run.
 */
TEST(test_repair_weights)
{
	const struct fxt_out_arg weight = { FXT_ARG_INT32, fxt_interned("weight"),
					    .i32 = FXT_IDLE_WEIGHT };
	_cleanup_free_ char *text = NULL;
	struct edit_repair_counts c;
	struct source s;

	source_init(&s);
	put_task(&s, 5, "five", 0);
	/* Weights of the kernel: a real-time thread, a deadline thread. */
	put_weights(&s, 100, 0, FXT_IDLE_WEIGHT, 5, 0);
	put_weights(&s, 200, 5, 0, 6, -1);
	put_weights(&s, 300, 6, -1, 0, FXT_IDLE_WEIGHT);
	put_weights(&s, 400, 0, FXT_IDLE_WEIGHT, 5, FXT_IDLE_WEIGHT);
	put_weights(&s, 500, 0, 120, 5, 120);
	put_weights(&s, 600, 5, FXT_IDLE_WEIGHT, 0, FXT_IDLE_WEIGHT);
	OK(fxt_write_wakeup(&s.w, &(struct fxt_wakeup){ 700, 0, 5, &weight, 1 }));
	put_weights(&s, 800, 0, FXT_IDLE_WEIGHT, 5, 120);
	put_weights(&s, 900, 5, 120, 0, FXT_IDLE_WEIGHT);
	text = repair_text(&s.bytes, &c);
	assert_int_equal(c.damages, 4);
	assert_int_equal(c.switches_added, 0);
	assert_int_equal(count_lines(text, " cpu0 "), 5);
	assert_int_equal(count_lines(text, " wake "), 0);
	source_deinit(&s);
}

/* The kernel's mappings belong to process 2, which need not be recorded. */
TEST(test_repair_kernel_mapping)
{
	_cleanup_free_ char *text = NULL;
	struct edit_repair_counts c;
	struct source s;

	source_init(&s);
	put_event_args(&s, 100, FXT_KOID_KTHREADD, "profile", "mapping", NULL, 0);
	text = repair_text(&s.bytes, &c);
	assert_int_equal(c.names_lost, 0);
	put_event_args(&s, 200, FXT_KOID_KTHREADD, "process", "fork", NULL, 0);
	free(text);
	text = repair_text(&s.bytes, &c);
	assert_int_equal(c.names_lost, 2);
	source_deinit(&s);
}

/* Events at TIMES; EXPECTED are those that repair keeps. */
static void assert_times(const uint64_t *times, size_t n, const char *expected)
{
	_cleanup_free_ char *text = NULL;
	char found[512] = "";
	struct source s;

	source_init(&s);
	as_app(&s);
	for (size_t i = 0; i < n; i++)
		put_event(&s, FXT_EVENT_INSTANT, times[i] * second, 5, "c", "n", 0);
	text = repair_text(&s.bytes, NULL);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		unsigned long long ns = 0;

		if (sscanf(line, "app: %llu instant", &ns) == 1)
			snprintf(found + strlen(found), sizeof(found) - strlen(found), "%llu ",
				 ns / (unsigned long long)second);
	}
	assert_string_equal(found, expected);
	source_deinit(&s);
}

#define TIMES(expected, ...)                                                                       \
	assert_times((const uint64_t[]){ __VA_ARGS__ },                                            \
		     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), expected)

/* A time that is far from both neighbours is wrong, unless nothing happened around it. */
TEST(test_repair_lonely_times)
{
	TIMES("1000 1001 1002 ", 1000, 1001, 99999, 1002);
	TIMES("1000 1001 1002 ", 1000, 1001, 3, 1002);
	TIMES("1000 1001 1002 ", 99999, 1000, 1001, 1002);
	TIMES("100000 100001 ", 0, 100000, 100001);
	TIMES("1000 1001 1002 ", 1000, 1001, 1002, 99999);
	TIMES("1000 1001 9000 9001 ", 1000, 1001, 9000, 9001);
	TIMES("1 2 1000 1001 ", 1000, 1001, 1, 2);
	TIMES("100 200 300 400 ", 100, 200, 300, 400);
	TIMES("7 ", 7);
	TIMES("1 100 ", 1, 100);
}

/*
 * The begins and ends that repair keeps of durations, which a thread has in the given order. STOP
 * ends the recording, unless 0.
 */
static void assert_ends(bool is_kymo, const uint64_t (*times)[2], size_t n, uint64_t stop,
			const char *expected)
{
	_cleanup_free_ char *text = NULL;
	struct edit_repair_counts c;
	char found[512] = "";
	struct source s;
	size_t n_found = 0;

	source_init(&s);
	if (is_kymo)
		put_start(&s, 1000 * second, "box", 1, WALL);
	else
		as_app(&s);
	for (size_t i = 0; i < n; i++)
		put_event(&s, FXT_EVENT_DURATION_COMPLETE, times[i][0] * second, 5, "c", "n",
			  times[i][1] * second);
	if (stop && is_kymo)
		put_stop(&s, stop * second);
	else if (stop)
		put_event(&s, FXT_EVENT_INSTANT, stop * second, 5, "c", "n", 0);
	text = repair_text(&s.bytes, &c);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		unsigned long long begin, end;

		if (sscanf(line, "%*s %llu complete c/n 5/5 ..%llu", &begin, &end) != 2)
			continue;
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%llu-%llu ",
			 begin / (unsigned long long)second, end / (unsigned long long)second);
		n_found++;
	}
	assert_string_equal(found, expected);
	assert_int_equal(c.misplaced, n - n_found);
	source_deinit(&s);
}

#define ENDS(is_kymo, stop, expected, ...)                                                         \
	assert_ends(is_kymo, (const uint64_t[][2]){ __VA_ARGS__ },                                 \
		    sizeof((const uint64_t[][2]){ __VA_ARGS__ }) / 16, stop, expected)

/* A duration that ends after the end of the recording is wrong. One that is still open is kept. */
TEST(test_repair_ends)
{
	/* One bit of an end: 9.2e9 s. */
	ENDS(true, 1010, "1001-1002 1004-1005 ", { 1001, 1002 }, { 1002, 9223372036 },
	     { 1004, 1005 });
	ENDS(true, 1010, "1001-1009 ", { 1001, 1009 }, { 1003, 1013 });
	/* The archive was cut off: an open duration may have ended later. */
	ENDS(true, 0, "1001-1009 1003-1013 ", { 1001, 1009 }, { 1003, 1013 }, { 1004, 5000 });
	/* kymo writes a duration at its end. */
	ENDS(true, 1400, "1000-1001 1002-1300 1300-1301 ", { 1000, 1001 }, { 1299, 1300 },
	     { 1002, 1300 }, { 1300, 1301 });
	/* Other programs need not. */
	ENDS(false, 1010, "1001-1002 1002-1100 1004-1005 ", { 1001, 1002 }, { 1002, 1100 },
	     { 1003, 9223372036 }, { 1004, 1005 });
	ENDS(false, 0, "1-100 ", { 1, 100 });
	ENDS(false, 3000, "1-2900 ", { 1, 2900 });
}

/* Durations without a begin or an end are dropped or completed. */
TEST(test_repair_halves)
{
	_cleanup_free_ char *text = NULL;
	struct edit_repair_counts c;
	struct source s;

	source_init(&s);
	as_app(&s);
	put_event(&s, FXT_EVENT_DURATION_END, 10, 5, "c", "n", 0);
	put_event(&s, FXT_EVENT_ASYNC_BEGIN, 20, 5, "c", "a", 3);
	put_event(&s, FXT_EVENT_FLOW_END, 30, 5, "c", "f", 4);
	text = repair_text(&s.bytes, &c);
	assert_string_equal(text, "app: 20 async-begin c/a 5/5 id 3\n"
				  "app: 30 async-end c/a 5/5 id 3\n");
	assert_int_equal(c.ends_dropped, 2);
	assert_int_equal(c.ends_added, 1);
	assert_int_equal(c.stops_added, 0);
	source_deinit(&s);
}

/* Undefined threads of a switch become one with a name. */
TEST(test_repair_legacy_undefined)
{
	const uint64_t legacy[] = {
		fxt_put_record_type(FXT_RECORD_SCHEDULING) | fxt_put_record_words(2) |
			fxt_put_legacy_out_thread(7) | fxt_put_legacy_in_thread(8) |
			fxt_put_legacy_out_priority(3) | fxt_put_legacy_in_priority(3),
		100,
	};
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	as_app(&s);
	put_words(&s, legacy, 2);
	text = repair_text(&s.bytes, NULL);
	assert_line(text, "kymo: thread 4325375 'unknown' process:koid=4325375");
	assert_null(strstr(text, "undefined"));
	source_deinit(&s);
}

/* Two concatenated archives in a file. */
TEST(test_repair_concatenated)
{
	_cleanup_free_ char *text = NULL;
	struct edit_repair_counts c;
	struct source a, b;

	make(&a, true);
	source_init(&b);
	put_start(&b, 200, "box", 1, WALL);
	put_switch(&b, 200, 0, 0, 5, FXT_STATE_RUNNING);
	put_switch(&b, 210, 0, 5, 0, FXT_STATE_BLOCKED);
	put_stop(&b, 220);
	OK(outbuf_append(&a.bytes, b.bytes.data, b.bytes.size));
	text = repair_text(&a.bytes, &c);
	assert_int_equal(count_lines(text, "session_start"), 2);
	assert_line(text, "kymo: 210 cpu0 5>0 blocked");
	assert_int_equal(c.damages + c.switches_added + c.scheduling_dropped, 0);
	source_deinit(&a);
	source_deinit(&b);
}

/* The end that is added to a duration is not before the end of another one in it. */
TEST(test_repair_end_around)
{
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	put_start(&s, 100, "box", 1, 0);
	put_task(&s, 5, "five", 0);
	put_switch(&s, 105, 0, 0, 5, FXT_STATE_RUNNING);
	as_app(&s);
	put_event(&s, FXT_EVENT_DURATION_BEGIN, 110, 5, "c", "outer", 0);
	put_event(&s, FXT_EVENT_DURATION_BEGIN, 120, 5, "c", "inner", 0);
	put_event(&s, FXT_EVENT_DURATION_COMPLETE, 130, 5, "c", "whole", 400);
	put_event(&s, FXT_EVENT_DURATION_BEGIN, 140, 6, "c", "other", 0);
	text = repair_text(&s.bytes, NULL);
	assert_line(text, "app: 400 end c/inner 5/5");
	assert_line(text, "app: 400 end c/outer 5/5");
	assert_line(text, "app: 140 end c/other 6/6");
	/* (nothing shows that the thread runs until 400) */
	assert_line(text, "kymo: 140 cpu0 5>0 running *");
	assert_int_equal(count_lines(text, "kymo: 400 instant kymo/session_stop"), 1);
	assert_in_order(text);
	source_deinit(&s);
}

static void put_memory(struct source *s, uint64_t ts, const char *name, uint64_t blocks)
{
	const struct fxt_out_arg arg = { FXT_ARG_UINT64, fxt_interned("blocks"), .u64 = blocks };

	put_event_args(s, ts, 5, "memory", name, &arg, blocks > 0);
}

/*
 * The second part of a merged cut begins with live blocks as state. They are no blocks of a
 * snapshot of the first part, of which some are lost.
 */
TEST(test_repair_snapshot_before_state)
{
	_cleanup_free_ char *text = NULL;
	struct edit_repair_counts c;
	struct source s;

	source_init(&s);
	put_start(&s, 100, "box", 1, WALL);
	put_task(&s, 5, "five", 1);
	put_memory(&s, 110, "snapshot", 3);
	put_memory(&s, 110, "block", 0);
	put_memory(&s, 200, "block", 0);
	put_memory(&s, 200, "block", 0);
	put_stop(&s, 300);
	text = repair_text(&s.bytes, &c);
	assert_int_equal(c.incomplete, 1);
	assert_int_equal(count_lines(text, "memory/snapshot 5/5 blocks:uint64=1 lost:uint64=2"), 1);
	source_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repair_good),
		cmocka_unit_test(test_repair_head),
		cmocka_unit_test(test_repair_odd_ticks),
		cmocka_unit_test(test_repair_warnings),
		cmocka_unit_test(test_repair_sessions),
		cmocka_unit_test(test_repair_cut_off),
		cmocka_unit_test(test_repair_zeros),
		cmocka_unit_test(test_repair_swapped_and_doubled),
		cmocka_unit_test(test_repair_switch_with_bad_arguments),
		cmocka_unit_test(test_repair_lonely_times),
		cmocka_unit_test(test_repair_ends),
		cmocka_unit_test(test_repair_halves),
		cmocka_unit_test(test_repair_legacy_undefined),
		cmocka_unit_test(test_repair_concatenated),
		cmocka_unit_test(test_repair_weights),
		cmocka_unit_test(test_repair_end_around),
		cmocka_unit_test(test_repair_snapshot_before_state),
		cmocka_unit_test(test_repair_kernel_mapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
