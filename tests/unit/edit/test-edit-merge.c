/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several archives on one time line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/unit.h"

static const uint64_t wall = UINT64_C(1700000000000000000), second = 1000000000;

/* One CPU, on which TID runs from FROM to TO. */
static void make(struct source *s, const char *host, uint64_t wall_ns, uint64_t tid, uint64_t from,
		 uint64_t to)
{
	source_init(s);
	put_start(s, from, host, 2, wall_ns);
	put_task(s, tid, host, 0);
	put_switch(s, from, 1, 0, tid, FXT_STATE_RUNNING);
	put_switch(s, to, 1, tid, 0, FXT_STATE_RUNNING);
	put_stop(s, to);
}

static char *merge2(const struct source *a, const struct source *b, struct edit_merge_view *views)
{
	const struct outbuf *list[] = { &a->bytes, &b->bytes };

	return merge_text(list, 2, views);
}

/* Of one boot: no time changes. */
TEST(test_merge_sequence)
{
	_cleanup_free_ char *text = NULL;
	struct edit_merge_view v[2];
	struct source a, b;

	make(&a, "box", wall, 5, 100, 200);
	make(&b, "box", wall + second, 6, 300, 400);
	text = merge2(&b, &a, v);
	assert_int_equal(v[0].machine + v[1].machine, 0);
	assert_int_equal(v[0].doubled + v[1].doubled, 0);
	assert_true(strstr(text, "100 cpu1 0>5") < strstr(text, "200 cpu1 5>0"));
	assert_true(strstr(text, "200 cpu1 5>0") < strstr(text, "300 cpu1 0>6"));
	assert_line(text, "kymo: 300 cpu1 0>6 running");
	assert_line(text, "kymo: 400 cpu1 6>0 running");
	assert_int_equal(count_lines(text, "session_start"), 2);
	source_deinit(&a);
	source_deinit(&b);
}

/* One begins at the end of the other, as parts of a cut archive do, in either order. */
TEST(test_merge_parts)
{
	struct source a, b;

	make(&a, "box", wall, 5, 100, 200);
	make(&b, "box", wall, 6, 200, 300);
	for (unsigned i = 0; i < 2; i++) {
		struct edit_merge_view v[2];
		_cleanup_free_ char *text = merge2(i ? &b : &a, i ? &a : &b, v);

		assert_int_equal(v[0].doubled + v[1].doubled, 0);
		assert_line(text, "kymo: 200 cpu1 5>0 running");
		assert_line(text, "kymo: 200 cpu1 0>6 running");
		assert_true(strstr(text, "200 cpu1 5>0") < strstr(text, "200 cpu1 0>6"));
	}
	source_deinit(&a);
	source_deinit(&b);
}

/*
 * Open intervals at the begin of the second archive are in it with their begin, which covers no
 * time.
 */
TEST(test_merge_chunks)
{
	struct source a, b;

	make(&a, "box", wall, 5, 100, 200);
	source_init(&b);
	put_start(&b, 200, "box", 2, wall);
	put_task(&b, 6, "six", 0);
	put_switch(&b, 200, 1, 0, 6, FXT_STATE_RUNNING);
	put_event_args(&b, 50, 6, "sched", "migrate", NULL, 0);
	put_switch(&b, 300, 1, 6, 0, FXT_STATE_RUNNING);
	put_stop(&b, 300);
	for (unsigned i = 0; i < 2; i++) {
		struct edit_merge_view v[2];
		_cleanup_free_ char *text = merge2(i ? &b : &a, i ? &a : &b, v);

		assert_int_equal(v[0].doubled + v[1].doubled, 0);
		assert_line(text, "kymo: 200 cpu1 5>0 running");
		assert_line(text, "kymo: 200 cpu1 0>6 running");
		assert_int_equal(count_lines(text, "migrate"), 1);
	}
	source_deinit(&a);
	source_deinit(&b);
}

/* Both cover the same CPU: the one that began first has precedence, then the other one. */
TEST(test_merge_overlap)
{
	_cleanup_free_ char *text = NULL;
	struct edit_merge_view v[2];
	struct source a, b;

	make(&a, "box", wall, 5, 100, 300);
	source_init(&b);
	put_start(&b, 200, "box", 2, wall);
	put_task(&b, 6, "six", 0);
	put_switch(&b, 200, 1, 0, 5, FXT_STATE_RUNNING);
	put_switch(&b, 250, 1, 5, 6, FXT_STATE_RUNNING);
	put_wakeup(&b, 320, 1, 5);
	put_switch(&b, 350, 1, 6, 0, FXT_STATE_RUNNING);
	put_stop(&b, 400);
	text = merge2(&a, &b, v);
	assert_int_equal(v[1].doubled, 2);
	assert_no_line(text, "kymo: 250 cpu1 5>6 running");
	assert_line(text, "kymo: 300 cpu1 5>0 running");
	assert_line(text, "kymo: 300 cpu1 0>6 running *");
	assert_line(text, "kymo: 350 cpu1 6>0 running");
	source_deinit(&a);
	source_deinit(&b);
}

/* Each switch of TEXT takes off the thread that runs on its CPU. */
static void assert_switches(const char *text)
{
	unsigned runs[4] = { 0 }, cpu, out, in;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "kymo: %*u cpu%u %u>%u", &cpu, &out, &in) != 3)
			continue;
		assert_true(cpu < 4);
		if (out != runs[cpu])
			fail_msg("another thread runs than %u: %.60s", out, line);
		runs[cpu] = in;
	}
}

/* An archive of the session NAME, from FROM on. */
static void begin_session(struct source *s, const char *name, uint64_t from)
{
	source_init(s);
	put_start_of(s, from, name, "box", 2, wall);
	put_task(s, 5, "five", 0);
	put_task(s, 6, "six", 0);
}

/*
 * While the session whose schedule is used pauses, the schedule of the other one is used, until
 * that one ends.
 */
TEST(test_merge_pause)
{
	struct edit_merge_view v[2];
	struct source a, b;

	begin_session(&a, "a", 100);
	put_switch(&a, 100, 1, 0, 5, FXT_STATE_RUNNING);
	put_shed(&a, 200, "session", "a", false);
	put_switch(&a, 200, 1, 5, 0, FXT_STATE_RUNNING);
	put_shed(&a, 300, "session", "a", true);
	put_switch(&a, 300, 1, 0, 6, FXT_STATE_RUNNING);
	put_switch(&a, 320, 1, 6, 5, FXT_STATE_RUNNING);
	put_switch(&a, 500, 1, 5, 6, FXT_STATE_RUNNING);
	put_stop_of(&a, 600, "a");
	begin_session(&b, "b", 150);
	put_switch(&b, 150, 1, 0, 5, FXT_STATE_RUNNING);
	put_switch(&b, 250, 1, 5, 6, FXT_STATE_RUNNING);
	put_switch(&b, 320, 1, 6, 5, FXT_STATE_RUNNING);
	put_switch(&b, 400, 1, 5, 0, FXT_STATE_RUNNING);
	put_stop_of(&b, 400, "b");
	for (unsigned i = 0; i < 2; i++) {
		_cleanup_free_ char *text = merge2(i ? &b : &a, i ? &a : &b, v);

		assert_line(text, "kymo: 200 cpu1 5>0 running");
		assert_line(text, "kymo: 200 cpu1 0>5 running *");
		assert_line(text, "kymo: 250 cpu1 5>6 running");
		assert_int_equal(count_lines(text, "kymo: 320 cpu1 6>5 running"), 1);
		assert_line(text, "kymo: 400 cpu1 5>0 running");
		assert_line(text, "kymo: 400 cpu1 0>5 running *");
		assert_line(text, "kymo: 500 cpu1 5>6 running");
		assert_int_equal(v[i].doubled, 2);
		assert_int_equal(v[1 - i].doubled, 1);
		assert_switches(text);
	}
	source_deinit(&a);
	source_deinit(&b);
}

/*
 * The schedule that is left is closed where the other one begins, if its archive does it later or
 * not at all; also if the other one has just paused.
 */
TEST(test_merge_change_of_schedule)
{
	enum { CLOSED_LATE, CUT_OFF, BOTH_PAUSE, N_WAYS };

	for (unsigned way = 0; way < N_WAYS; way++) {
		_cleanup_free_ char *text = NULL;
		struct edit_merge_view v[2];
		struct source a, b;

		begin_session(&a, "a", 100);
		begin_session(&b, "b", 150);
		for (unsigned cpu = 0; cpu < 2; cpu++) {
			put_switch(&a, 100, cpu, 0, 5 + cpu, FXT_STATE_RUNNING);
			put_switch(&b, 150, cpu, 0, 5 + cpu, FXT_STATE_RUNNING);
		}
		if (way == BOTH_PAUSE) {
			put_shed(&b, 160, "session", "b", false);
			for (unsigned cpu = 0; cpu < 2; cpu++)
				put_switch(&b, 160, cpu, 5 + cpu, 0, FXT_STATE_RUNNING);
			put_shed(&b, 205, "session", "b", true);
			for (unsigned cpu = 0; cpu < 2; cpu++)
				put_switch(&b, 206, cpu, 0, 5 + cpu, FXT_STATE_RUNNING);
		}
		if (way != CUT_OFF)
			put_shed(&a, 200, "session", "a", false);
		put_switch(&b, 210, 0, 5, 0, FXT_STATE_RUNNING);
		if (way != CUT_OFF)
			for (unsigned cpu = 0; cpu < 2; cpu++)
				put_switch(&a, 220, cpu, 5 + cpu, 0, FXT_STATE_RUNNING);
		put_switch(&b, 250, 1, 6, 0, FXT_STATE_RUNNING);
		put_stop_of(&b, 300, "b");
		text = merge2(&a, &b, v);
		assert_switches(text);
		assert_line(text, "kymo: 250 cpu1 6>0 running");
		source_deinit(&a);
		source_deinit(&b);
	}
}

/* Both pause at the same time: none is used for the other. */
TEST(test_merge_pause_together)
{
	_cleanup_free_ char *text = NULL;
	struct edit_merge_view v[2];
	struct source s[2];

	for (unsigned i = 0; i < 2; i++) {
		const char *name = i ? "b" : "a";

		begin_session(&s[i], name, 100);
		put_switch(&s[i], 100, 1, 0, 5, FXT_STATE_RUNNING);
		put_shed(&s[i], 200, "session", name, false);
		put_switch(&s[i], 200, 1, 5, 0, FXT_STATE_RUNNING);
		put_shed(&s[i], 300 + 50 * i, "session", name, true);
		put_switch(&s[i], 300 + 50 * i, 1, 0, 6, FXT_STATE_RUNNING);
		put_switch(&s[i], 400 - 10 * i, 1, 6, 0, FXT_STATE_RUNNING);
		put_stop_of(&s[i], 400 - 10 * i, name);
	}
	text = merge2(&s[0], &s[1], v);
	assert_int_equal(count_lines(text, " cpu1 "), 4);
	assert_int_equal(v[0].doubled, 0);
	for (unsigned i = 0; i < 2; i++)
		source_deinit(&s[i]);
}

/*
 * Sessions that overlap have different names, which their events have, also if they had no name.
 * Parts of one session keep its name.
 */
TEST(test_merge_names)
{
	for (unsigned named = 0; named < 2; named++) {
		const char *name = named ? "rec" : NULL;
		_cleanup_free_ char *text = NULL;
		struct edit_merge_view v[3];
		struct source s[3];

		for (unsigned i = 0; i < 3; i++) {
			static const uint64_t begins[] = { 100, 150, 200 };

			begin_session(&s[i], "rec", begins[i]);
			put_shed(&s[i], begins[i] + 20, "stacks", name, false);
			put_shed(&s[i], begins[i] + 30, "stacks", name, true);
			put_stop_of(&s[i], begins[i] + 90, name);
		}
		{
			const struct outbuf *list[] = { &s[0].bytes, &s[1].bytes, &s[2].bytes };

			text = merge_text(list, 3, v);
		}
		assert_int_equal(count_lines(text, "session_start"), 3);
		assert_int_equal(count_lines(text, " session:string=rec"), 12);
		assert_int_equal(count_lines(text, " session:string=rec_2"), 4);
		for (unsigned i = 0; i < 3; i++)
			source_deinit(&s[i]);
	}
}

static struct fxt_out_arg u64_arg(const char *name, uint64_t v)
{
	return (struct fxt_out_arg){ FXT_ARG_UINT64, fxt_interned(name), .u64 = v };
}

/*
 * Chunk N of the session "rec", whose first chunk began at FIRST_NS (0 = unknown), with a shed from
 * FROM to RETURNED_NS.
 */
static void put_chunk(struct source *s, uint32_t n, uint64_t first_ns, uint64_t from,
		      uint64_t returned_ns, uint64_t to, const char *reason)
{
	const struct fxt_out_arg start[] = {
		{ FXT_ARG_STRING, fxt_interned("host"), .text = fxt_interned("box") },
		{ FXT_ARG_STRING, fxt_interned("session"), .text = fxt_interned("rec") },
		{ FXT_ARG_UINT32, fxt_interned("chunk"), .u32 = n },
		u64_arg("first", first_ns),
	};
	const struct fxt_out_arg stop[] = {
		{ FXT_ARG_STRING, fxt_interned("reason"), .text = fxt_interned(reason) },
		{ FXT_ARG_STRING, fxt_interned("session"), .text = fxt_interned("rec") },
	};

	put_task(s, FXT_KOID_KYMO, "kymo", 0);
	put_event_args(s, from, FXT_KOID_KYMO, "kymo", "session_start", start,
		       ARRAY_SIZE(start) - (first_ns == 0));
	put_shed(s, from, "stacks", "rec", false);
	put_shed(s, returned_ns, "stacks", "rec", true);
	put_event_args(s, to, FXT_KOID_KYMO, "kymo", "session_stop", stop, ARRAY_SIZE(stop));
}

static void make_chunk(struct source *s, uint32_t n, uint64_t from, uint64_t returned_ns,
		       uint64_t to, const char *reason)
{
	source_init(s);
	put_chunk(s, n, 0, from, returned_ns, to, reason);
}

/*
 * The chunks of a recording keep its new name, even if the other recording ends before they begin;
 * in any order of the archives. A later recording with chunks does not get the name.
 */
TEST(test_merge_names_of_chunks)
{
	struct source s[5];

	begin_session(&s[0], "rec", 100);
	put_stop_of(&s[0], 240, "rec");
	make_chunk(&s[1], 1, 150, 180, 200, "rotated");
	make_chunk(&s[2], 2, 200, 220, 250, "rotated");
	make_chunk(&s[3], 3, 250, 270, 300, "requested");
	make_chunk(&s[4], 1, 400, 410, 450, "requested");
	for (unsigned reversed = 0; reversed < 2; reversed++) {
		_cleanup_free_ char *text = NULL;
		const struct outbuf *list[5];
		struct edit_merge_view v[5];

		for (unsigned i = 0; i < 5; i++)
			list[i] = &s[reversed ? 4 - i : i].bytes;
		text = merge_text(list, 5, v);
		assert_int_equal(count_lines(text, "session_start"), 5);
		assert_int_equal(count_lines(text, " session:string=rec"), 2 + 4 * 4);
		assert_int_equal(count_lines(text, " session:string=rec_2"), 3 * 4);
		assert_int_equal(count_lines(text, " session:string=rec_3"), 0);
	}
	for (unsigned i = 0; i < 5; i++)
		source_deinit(&s[i]);
}

/* The line of TEXT with PART ends with END. */
static void assert_line_end(const char *text, const char *part, const char *end)
{
	const char *line = strstr(text, part), *stop = line ? strchr(line, '\n') : NULL;

	if (!stop || (size_t)(stop - line) < strlen(end) ||
	    memcmp(stop - strlen(end), end, strlen(end)) != 0)
		fail_msg("'%s' does not end with '%s': %.200s", part, end, line ? line : "no line");
}

enum { BY_BEGIN, BY_END, BY_ARCHIVE, N_WAYS };

/*
 * Merges two recordings "rec" with two chunks each: separate archives in the order number ORDER;
 * BY_ARCHIVE: both chunks of a recording are in one archive. The second chunks return at 250 and
 * 260.
 */
static char *merge_chunks_at_once(unsigned way, unsigned order)
{
	static const uint64_t ends[N_WAYS][2] = { { 200, 200 }, { 200, 201 }, { 200, 200 } };
	unsigned n = way == BY_ARCHIVE ? 2 : 4, rest[4] = { 0, 1, 2, 3 };
	const struct outbuf *list[4];
	struct edit_merge_view v[4];
	struct source s[4];
	char *text;

	for (unsigned i = 0; i < 4; i++) {
		unsigned which = i % 2, more = 10 * which;
		uint64_t first_ns = way == BY_BEGIN ? 100 + more : 0;

		if (i < n)
			source_init(&s[i]);
		if (i < 2)
			put_chunk(&s[i], 1, first_ns, 100 + more, 150 + more, ends[way][which],
				  "rotated");
		else
			put_chunk(&s[i % n], 2, first_ns, ends[way][which], 250 + more, 300,
				  "requested");
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned k = order % (n - i);

		list[i] = &s[rest[k]].bytes;
		order /= n - i;
		memmove(&rest[k], &rest[k + 1], (3 - k) * sizeof(rest[0]));
	}
	text = merge_text(list, n, v);
	for (unsigned i = 0; i < n; i++)
		source_deinit(&s[i]);
	return text;
}

/*
 * Two recordings of one name whose chunks end at once, or nearly so: each keeps its name. Which
 * chunk a chunk continues is shown by the begin of the recording, else by the end of the chunk
 * before, else by the archive.
 */
TEST(test_merge_names_at_once)
{
	for (unsigned way = 0; way < N_WAYS; way++) {
		for (unsigned order = 0; order < (way == BY_ARCHIVE ? 2 : 24); order++) {
			_cleanup_free_ char *text = merge_chunks_at_once(way, order);

			assert_line_end(text, " 150 instant kymo/returned", ":string=rec");
			assert_line_end(text, " 160 instant kymo/returned", ":string=rec_2");
			assert_line_end(text, " 250 instant kymo/returned", ":string=rec");
			assert_line_end(text, " 260 instant kymo/returned", ":string=rec_2");
		}
	}
}

/* Data of a thread that one archive lacks is taken from the other, in either order. */
TEST(test_merge_unknown)
{
	for (unsigned i = 0; i < 4; i++) {
		_cleanup_free_ char *text = NULL;
		struct edit_merge_view v[2];
		struct source a, b;

		/* The archive with the data is earlier or later, too. */
		make(&a, "box", wall, 5, i & 2 ? 300 : 100, i & 2 ? 400 : 200);
		put_task(&a, 75, "?", 0);
		make(&b, "box", wall, 6, 200, 300);
		put_thread(&b, 1, 75, "worker");
		text = merge2(i & 1 ? &b : &a, i & 1 ? &a : &b, v);
		assert_int_equal(v[0].unknown + v[1].unknown, 2);
		assert_int_equal(count_lines(text, " 75 '"), 1);
		assert_line(text, "kymo: thread 75 'worker' process:koid=1");
		source_deinit(&a);
		source_deinit(&b);
	}
}

/*
 * Neither archive has its name: it stays unknown. A thread that is really called "?" and has a
 * start time is known.
 */
TEST(test_merge_nobody_knows)
{
	_cleanup_free_ char *text = NULL;
	struct edit_merge_view v[2];
	struct source a, b;

	make(&a, "box", wall, 5, 100, 200);
	make(&b, "box", wall, 6, 200, 300);
	put_task(&a, 75, "?", 0);
	put_task_since(&b, 76, "?", 50);
	text = merge2(&a, &b, v);
	assert_int_equal(v[0].unknown + v[1].unknown, 0);
	assert_line(text, "kymo: process 75 '?'");
	assert_line(text, "kymo: process 76 '?' start_time:uint64=50");
	source_deinit(&a);
	source_deinit(&b);
}

/*
 * The kernel has reused an id between two recordings: the second owner gets its own koid in all
 * records of the second archive.
 */
TEST(test_merge_reused)
{
	const struct fxt_out_arg child[] = {
		{ FXT_ARG_KOID, fxt_interned("child_process"), .u64 = 5 },
	};
	const struct fxt_out_arg waker[] = {
		{ FXT_ARG_INT32, fxt_interned("weight"), .i32 = 120 },
		{ FXT_ARG_KOID, fxt_interned("waker"), .u64 = 5 },
	};
	_cleanup_free_ char *text = NULL;
	struct edit_merge_view v[3];
	struct source s[3];

	for (unsigned i = 0; i < 3; i++) {
		uint64_t ts = 100 + 100 * i;

		source_init(&s[i]);
		put_start(&s[i], ts, "box", 2, wall);
		put_process(&s[i], 7, "child", 5);
		put_task_since(&s[i], 5, i ? "second" : "first", i ? 150 : 50);
		put_task_since(&s[i], 6, "six", 10);
		put_switch(&s[i], ts, 1, 0, 5, FXT_STATE_RUNNING);
		put_event_args(&s[i], ts + 10, 5, "process", "fork", child, 1);
		OK(fxt_write_wakeup(&s[i].w, &(struct fxt_wakeup){ ts + 20, 0, 6, waker, 2 }));
		put_switch(&s[i], ts + 50, 1, 5, 6, FXT_STATE_RUNNING);
		put_stop(&s[i], ts + 60);
	}
	{
		const struct outbuf *list[] = { &s[0].bytes, &s[1].bytes, &s[2].bytes };

		text = merge_text(list, 3, v);
	}
	assert_int_equal(v[0].koids_moved, 0);
	assert_int_equal(v[1].koids_moved, 1);
	assert_int_equal(v[2].koids_moved, 1);
	assert_int_equal(v[1].koids_shared + v[2].koids_shared, 0);
	assert_line(text, "kymo: process 5 'first' start_time:uint64=50");
	assert_line(text, "kymo: process 7 'child' parent:koid=5");
	assert_line(text, "kymo: 100 cpu1 0>5 running");
	assert_line(text, "kymo: 110 instant process/fork 5/5 child_process:koid=5");
	assert_line(text, "kymo: process 8388613 'second' start_time:uint64=150 real_id:uint32=5");
	assert_line(text, "kymo: thread 8388613 'second' process:koid=8388613 start_time:uint64=150"
			  " real_id:uint32=5");
	assert_line(text, "kymo: process 7 'child' parent:koid=8388613");
	for (unsigned i = 2; i < 4; i++) {
		char line[128];

		snprintf(line, sizeof(line), "kymo: %u00 cpu1 0>8388613 running", i);
		assert_line(text, line);
		snprintf(
			line, sizeof(line),
			"kymo: %u10 instant process/fork 8388613/8388613 child_process:koid=8388613",
			i);
		assert_line(text, line);
		snprintf(line, sizeof(line), "kymo: %u20 wake 6 @0 waker:koid=8388613", i);
		assert_line(text, line);
		snprintf(line, sizeof(line), "kymo: %u50 cpu1 8388613>6 running", i);
		assert_line(text, line);
	}
	for (unsigned i = 0; i < 3; i++)
		source_deinit(&s[i]);
}

/*
 * Another machine: its times, ids, CPUs and clocks are changed, and its processes name their
 * machine.
 */
TEST(test_merge_machines)
{
	const struct fxt_out_arg process[] = {
		{ FXT_ARG_UINT64, fxt_interned("start_time"), .u64 = 50 * second },
	};
	const struct fxt_out_arg old_process[] = {
		{ FXT_ARG_UINT64, fxt_interned("start_time"), .u64 = second },
	};
	const struct fxt_out_arg lost[] = {
		{ FXT_ARG_UINT32, fxt_interned("cpu"), .u32 = 1 },
		{ FXT_ARG_UINT64, fxt_interned("first"), .u64 = 60 * second },
	};
	_cleanup_free_ char *text = NULL;
	struct edit_merge_view v[2];
	struct source a, b;

	/* That machine was booted 40 s earlier. */
	make(&a, "box", wall, 5, 10 * second, 20 * second);
	make(&b, "tower", wall - 40 * second, 5, 55 * second, 65 * second);
	OK(fxt_write_kernel_object(&b.w, &(struct fxt_kernel_object){ FXT_OBJECT_PROCESS, 7,
								      fxt_interned("seven"),
								      process, 1 }));
	OK(fxt_write_kernel_object(&b.w, &(struct fxt_kernel_object){ FXT_OBJECT_PROCESS, 8,
								      fxt_interned("eight"),
								      old_process, 1 }));
	put_event_args(&b, 60 * second, FXT_KOID_KYMO, "kymo", "lost", lost, 2);
	text = merge2(&a, &b, v);
	assert_int_equal(v[1].machine, 1);
	assert_int_equal(v[1].shift_ns, -40 * (int64_t)second);
	assert_int_equal(v[1].shift_cpu, 2);
	assert_int_equal(v[1].koids_cut, 0);
	assert_line(text, "kymo: 15000000000 cpu3 0>2147483653 running");
	assert_line(text, "kymo: process 2147483653 'tower: tower'");
	assert_line(text, "kymo: thread 2147483653 'tower' process:koid=2147483653");
	assert_line(text, "kymo: process 2147483655 'tower: seven' start_time:uint64=10000000000");
	assert_line(text, "kymo: process 2147483656 'tower: eight'");
	assert_line(text, "kymo: 20000000000 instant kymo/lost 2151677952/2151677952 cpu:uint32=3"
			  " first:uint64=20000000000");
	assert_int_equal(count_lines(text,
				     "boottime:uint64=15000000000 monotonic:uint64=15000000000"
				     " realtime:uint64=1700000015000000000"),
			 1);
	assert_line(text, "kymo: 10000000000 cpu1 0>5 running");
	source_deinit(&a);
	source_deinit(&b);
}

/*
 * At equal times, the order of two machines is not that of their boot clocks: here a session ends
 * where one of another machine begins, so that both keep their name.
 */
TEST(test_merge_machines_tie)
{
	struct source a, b;

	source_init(&a);
	put_start_of(&a, 100 * second, "rec", "box", 2, wall);
	put_stop_of(&a, 200 * second, "rec");
	source_init(&b);
	put_start_of(&b, 50 * second, "rec", "tower", 2, wall + 150 * second);
	put_stop_of(&b, 90 * second, "rec");
	for (unsigned i = 0; i < 2; i++) {
		struct edit_merge_view v[2];
		_cleanup_free_ char *text = merge2(i ? &b : &a, i ? &a : &b, v);

		assert_int_equal(count_lines(text, " session:string=rec"), 4);
		assert_int_equal(count_lines(text, " session:string=rec_2"), 0);
	}
	source_deinit(&a);
	source_deinit(&b);
}

/* A program's own archive without a clock belongs to the only machine with a known clock. */
TEST(test_merge_without_clock)
{
	struct edit_merge_view v[3];
	struct source a, b, c;

	source_init(&a);
	as_app(&a);
	put_event(&a, FXT_EVENT_INSTANT, 55 * second, 5, "c", "n", 0);
	make(&b, "box", wall, 5, 50 * second, 60 * second);
	make(&c, "tower", wall, 5, 50 * second, 60 * second);
	{
		const struct outbuf *list[] = { &a.bytes, &b.bytes, &c.bytes };
		_cleanup_free_ char *text = merge_text(list, 3, v);

		assert_line(text, "app: 55000000000 instant c/n 5/5");
		assert_line(text, "kymo: 50000000000 cpu1 0>5 running");
	}
	assert_false(v[0].has_clock);
	assert_int_equal(v[0].machine, 0);
	assert_int_equal(v[1].machine, 0);
	assert_int_equal(v[2].machine, 1);
	source_deinit(&a);
	source_deinit(&b);
	source_deinit(&c);
}

/* Clocks, ids and CPUs that no machine has. */
TEST(test_merge_hostile)
{
	struct edit_merge_view v[3];
	struct source list[3];

	for (unsigned i = 0; i < 3; i++) {
		source_init(&list[i]);
		put_start(&list[i], 1 + i, "box", UINT32_MAX,
			  i == 0   ? INT64_MAX
			  : i == 1 ? 1
				   : (uint64_t)INT64_MIN);
		put_task(&list[i], UINT64_MAX - i, "max", 0);
		put_switch(&list[i], UINT64_MAX - i, FXT_CPU_MAX, UINT64_MAX - i, 0,
			   FXT_STATE_RUNNING);
		put_switch(&list[i], 10, 0, 5, 6, FXT_STATE_RUNNING);
	}
	{
		const struct outbuf *archives[] = { &list[0].bytes, &list[1].bytes,
						    &list[2].bytes };
		_cleanup_free_ char *text = merge_text(archives, 3, v);

		assert_null(strstr(text, "damage"));
	}
	assert_true(v[0].koids_cut > 0);
	for (unsigned i = 0; i < 3; i++)
		source_deinit(&list[i]);
}

/* Providers of several archives share one output, record by record. */
TEST(test_merge_providers)
{
	_cleanup_free_ char *text = NULL;
	struct source a, b;

	source_init(&a);
	source_init(&b);
	as_app(&a);
	as_app(&b);
	for (unsigned i = 1; i < 50; i++) {
		put_event(&a, FXT_EVENT_INSTANT, 2 * i, 100 + i, "a", "of a", 0);
		put_event(&b, FXT_EVENT_INSTANT, 2 * i + 1, 200 + i, "b", "of b", 0);
	}
	text = merge2(&a, &b, NULL);
	assert_int_equal(count_lines(text, "app: "), 98);
	assert_line(text, "app: 40 instant a/of a 120/120");
	assert_line(text, "app: 41 instant b/of b 220/220");
	assert_null(strstr(text, "damage"));
	source_deinit(&a);
	source_deinit(&b);
}

/* An archive with points, each with a number and a plan, and a moment of each: instant and BLOB. */
static void make_moments(struct source *s, uint64_t from, const uint32_t *numbers,
			 const char *const *plans, unsigned n)
{
	make(s, "box", wall, 5, from, from + 50);
	for (unsigned i = 0; i < n; i++) {
		const struct fxt_out_arg args[] = {
			{ FXT_ARG_UINT32, fxt_interned("point"), .u32 = numbers[i] },
			{ FXT_ARG_STRING, fxt_interned("plan"), .text = fxt_inline(plans[i]) },
		};

		put_event_args(s, from, FXT_KOID_KYMO, "moments", "point", args, 2);
		put_event_args(s, from + 1 + i, 5, "moments", plans[i], args, 1);
		OK(fxt_write_large_blob(&s->w, &(struct fxt_large_blob){
						       .category = fxt_interned("moments"),
						       .name = fxt_interned("moment"),
						       .data = "x",
						       .size = 1,
						       .has_metadata = true,
						       .ts_ticks = from + 1 + i,
						       .thread = { 5, 5 },
						       .args = args,
						       .n_args = 1,
					       }));
	}
}

/* Each plan has its own number, even if recordings overlap. */
TEST(test_merge_moments)
{
	static const char *const some[] = { "one", "two" }, *const others[] = { "three", "two",
										"four" };
	static const uint32_t numbers[] = { 0, 1 }, more[] = { 0, 7, 1 };
#define POINT "instant moments/point 4194304/4194304 point:uint32="
	static const char *const points[] = {
		"kymo: 100 " POINT "0 plan:string=one",   "kymo: 100 " POINT "1 plan:string=two",
		"kymo: 110 " POINT "2 plan:string=three", "kymo: 110 " POINT "1 plan:string=two",
		"kymo: 110 " POINT "3 plan:string=four",
	};
	static const char *const moments[] = {
		"kymo: 101 instant moments/one 5/5 point:uint32=0",
		"kymo: 102 instant moments/two 5/5 point:uint32=1",
		"kymo: 111 instant moments/three 5/5 point:uint32=2",
		"kymo: 112 instant moments/two 5/5 point:uint32=1",
		"kymo: 113 instant moments/four 5/5 point:uint32=3",
	};
	_cleanup_free_ char *text = NULL;
	struct edit_merge_view v[2];
	struct source a, b;

	make_moments(&a, 100, numbers, some, 2);
	make_moments(&b, 110, more, others, 3);
	text = merge2(&a, &b, v);
	assert_int_equal(v[0].points_moved, 0);
	assert_int_equal(v[1].points_moved, 3);
	for (unsigned i = 0; i < 5; i++) {
		assert_line(text, points[i]);
		assert_line(text, moments[i]);
	}
	assert_int_equal(count_lines(text, "instant moments/"), 10);
	assert_int_equal(count_lines(text, "large 0 moments/moment"), 5);
	assert_line(text, "kymo: large 0 moments/moment 78 111 5/5 point:uint32=2");
	assert_line(text, "kymo: large 0 moments/moment 78 112 5/5 point:uint32=1");
	assert_line(text, "kymo: large 0 moments/moment 78 113 5/5 point:uint32=3");
	source_deinit(&a);
	source_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge_sequence),
		cmocka_unit_test(test_merge_overlap),
		cmocka_unit_test(test_merge_parts),
		cmocka_unit_test(test_merge_machines),
		cmocka_unit_test(test_merge_without_clock),
		cmocka_unit_test(test_merge_hostile),
		cmocka_unit_test(test_merge_providers),
		cmocka_unit_test(test_merge_pause),
		cmocka_unit_test(test_merge_pause_together),
		cmocka_unit_test(test_merge_names),
		cmocka_unit_test(test_merge_names_of_chunks),
		cmocka_unit_test(test_merge_names_at_once),
		cmocka_unit_test(test_merge_unknown),
		cmocka_unit_test(test_merge_nobody_knows),
		cmocka_unit_test(test_merge_reused),
		cmocka_unit_test(test_merge_chunks),
		cmocka_unit_test(test_merge_moments),
		cmocka_unit_test(test_merge_machines_tie),
		cmocka_unit_test(test_merge_change_of_schedule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
