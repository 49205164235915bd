/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sessions that overlap in several archives on one time line: their names, and the schedule that is
 * used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/unit.h"

static const uint64_t wall = UINT64_C(1700000000000000000);

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
TEST(test_sessions_pause)
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
TEST(test_sessions_change_of_schedule)
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
TEST(test_sessions_pause_together)
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
TEST(test_sessions_names)
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
TEST(test_sessions_names_of_chunks)
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
TEST(test_sessions_names_at_once)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sessions_pause),
		cmocka_unit_test(test_sessions_change_of_schedule),
		cmocka_unit_test(test_sessions_pause_together),
		cmocka_unit_test(test_sessions_names),
		cmocka_unit_test(test_sessions_names_of_chunks),
		cmocka_unit_test(test_sessions_names_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
