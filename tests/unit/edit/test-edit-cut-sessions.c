/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sessions in a cut: their begins, stops, pauses and counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/unit.h"

enum { WALL = 1700000000 };

/* The value of the string argument NAME in the line at TEXT, in TO; "" without it. */
static void string_arg(const char *text, const char *name, char to[32])
{
	const char *end = strchr(text, '\n'), *at = strstr(text, name);

	to[0] = '\0';
	if (at && end && at < end)
		sscanf(at + strlen(name), "%31[^ \n]", to);
}

/* "TIME EVENT SESSION CLASS," for each event of a session in TEXT; the caller frees it. */
static char *sessions_in(const char *text)
{
	char *list = NULL, name[32], session[32], class[32];
	size_t size;
	FILE *f = open_memstream(&list, &size);
	unsigned ts;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "kymo: %u instant kymo/%31s", &ts, name) != 2 ||
		    strcmp(name, "clock") == 0 || strcmp(name, "part") == 0)
			continue;
		string_arg(line, " session:string=", session);
		string_arg(line, " class:string=", class);
		fprintf(f, "%u %s %s%s%s,", ts, strncmp(name, "session_", 8) == 0 ? name + 8 : name,
			session, *class ? " " : "", class);
	}
	fclose(f);
	return list;
}

/* Session a from 100 to 500 with a pause from 200 to 300, and b from 150 to 700. */
static void make_sessions(struct source *s)
{
	source_init(s);
	put_start_of(s, 100, "a", "box", 1, WALL);
	put_start_of(s, 150, "b", "box", 1, WALL);
	put_shed(s, 180, "stacks", "a", false);
	put_shed(s, 190, "stacks", "b", false);
	put_shed(s, 195, "stacks", "b", true);
	put_shed(s, 200, "session", "a", false);
	put_switch(s, 250, 0, 0, 5, FXT_STATE_RUNNING);
	put_shed(s, 300, "session", "a", true);
	put_switch(s, 450, 0, 5, 6, FXT_STATE_RUNNING);
	put_stop_of(s, 500, "a");
	put_switch(s, 600, 0, 6, 0, FXT_STATE_RUNNING);
	put_stop_of(s, 700, "b");
}

/*
 * A cut has the sessions that record in it, from their begins to their ends, and their pauses,
 * wherever it begins and ends.
 */
TEST(test_cut_sessions)
{
	static const struct {
		uint64_t from_ns, to_ns;
		const char *list; /* the events of the sessions, in their order */
	} rows[] = {
		{ 0, UINT64_MAX,
		  "100 start a,150 start b,180 shed a stacks,190 shed b stacks,"
		  "195 returned b stacks,200 shed a session,300 returned a session,"
		  "500 stop a,700 stop b," },
		/* its begin is in the pause */
		{ 220, 650,
		  "220 start a,220 start b,220 shed a stacks,220 shed a session,"
		  "300 returned a session,500 stop a,650 stop b," },
		/* both ends are */
		{ 220, 280,
		  "220 start a,220 start b,220 shed a stacks,220 shed a session,"
		  "280 stop a,280 stop b," },
		/* its end is */
		{ 170, 250,
		  "170 start a,170 start b,180 shed a stacks,190 shed b stacks,"
		  "195 returned b stacks,200 shed a session,250 stop a,250 stop b," },
		/* at the begin of the pause, and at its end */
		{ 200, 300,
		  "200 start a,200 start b,200 shed a stacks,200 shed a session,"
		  "300 stop a,300 stop b," },
		/* one session only: what the other one did not record is not in it */
		{ 550, UINT64_MAX, "550 start b,700 stop b," },
		{ 0, 120, "100 start a,120 stop a," },
	};
	struct source s;

	make_sessions(&s);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = cut_text(
			&s.bytes, &(struct edit_cut_options){ .from_ns = rows[i].from_ns,
							      .to_ns = rows[i].to_ns,
							      .absolute = rows[i].from_ns > 0 ||
									  rows[i].to_ns < 1000 });
		_cleanup_free_ char *list = sessions_in(text);

		assert_string_equal(list, rows[i].list);
		assert_in_order(text);
	}
	source_deinit(&s);
}

/*
 * Nothing is recorded between two sessions, also if the cut begins or ends there. A program can
 * write events there. A stop is before them, also in a cut of the cut.
 */
TEST(test_cut_gap)
{
	static const struct {
		uint64_t from_ns, to_ns;
		const char *list;
	} rows[] = {
		{ 150, 900, "150 start a,200 stop a,500 start b,600 stop b," },
		{ 300, 550, "300 start a,300 stop a,500 start b,550 stop b," },
		{ 150, 300, "150 start a,200 stop a," },
		{ 300, 400, "300 start a,300 stop a," },
	};
	struct source s;

	source_init(&s);
	put_start_of(&s, 100, "a", "box", 1, WALL);
	put_switch(&s, 120, 0, 0, 5, FXT_STATE_RUNNING);
	put_switch(&s, 200, 0, 5, 0, FXT_STATE_RUNNING);
	put_stop_of(&s, 200, NULL);
	as_app(&s);
	put_event(&s, FXT_EVENT_INSTANT, 250, 5, "c", "in the gap", 0);
	put_event(&s, FXT_EVENT_INSTANT, 290, 5, "c", "in the gap", 0);
	as_kymo(&s);
	put_start_of(&s, 500, "b", "box", 1, WALL);
	put_switch(&s, 500, 0, 0, 5, FXT_STATE_RUNNING);
	put_switch(&s, 600, 0, 5, 0, FXT_STATE_RUNNING);
	put_stop_of(&s, 600, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text =
			cut_text(&s.bytes, &(struct edit_cut_options){ .from_ns = rows[i].from_ns,
								       .to_ns = rows[i].to_ns,
								       .absolute = true });
		_cleanup_free_ char *list = sessions_in(text);

		assert_string_equal(list, rows[i].list);
		assert_in_order(text);
	}
	source_deinit(&s);
}

/* The dropped bytes of all sessions are in each cut, even if no session is open at its end. */
TEST(test_cut_full_of_all)
{
	static const uint64_t rows[][2] = {
		{ 150, 900 }, { 150, 250 }, { 150, 350 }, { 250, 350 },
		{ 450, 650 }, { 450, 750 }, { 250, 450 },
	};
	struct source s;

	source_init(&s);
	for (unsigned i = 0; i < 3; i++) {
		const struct fxt_out_arg full = { FXT_ARG_UINT64, fxt_interned("full"),
						  .u64 = UINT64_C(1) << i };

		put_start_of(&s, 100 + 300 * i, "a", "box", 1, WALL);
		put_switch(&s, 120 + 300 * i, 0, 0, 5, FXT_STATE_RUNNING);
		put_switch(&s, 200 + 300 * i, 0, 5, 0, FXT_STATE_RUNNING);
		put_event_args(&s, 200 + 300 * i, FXT_KOID_KYMO, "kymo", "session_stop", &full, 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text =
			cut_text(&s.bytes, &(struct edit_cut_options){ .from_ns = rows[i][0],
								       .to_ns = rows[i][1],
								       .absolute = true });
		const char *at = text;
		uint64_t sum = 0;

		assert_in_order(text);
		while ((at = strstr(at, " full:uint64=")) != NULL)
			sum += strtoull(at += strlen(" full:uint64="), NULL, 10);
		assert_int_equal(sum, 7);
	}
	source_deinit(&s);
}

/* The counts of stacks are in the part where the session ends, unless it is of some processes. */
TEST(test_cut_session_stacks)
{
	const uint32_t pids[] = { 5 };
	struct source s;

	source_init(&s);
	put_start(&s, 100, "box", 1, WALL);
	put_task(&s, 5, "five", 1);
	put_switch(&s, 120, 0, 0, 5, FXT_STATE_RUNNING);
	put_switch(&s, 300, 0, 5, 0, FXT_STATE_RUNNING);
	put_event_args(
		&s, 400, FXT_KOID_KYMO, "kymo", "session_stacks",
		&(struct fxt_out_arg){ FXT_ARG_UINT64, fxt_interned("stacks_whole"), .u64 = 7 }, 1);
	put_stop(&s, 400);
	for (unsigned i = 0; i < 3; i++) {
		_cleanup_free_ char *text = cut_text(
			&s.bytes, &(struct edit_cut_options){ .from_ns = i == 0 ? 0 : 200,
							      .to_ns = i == 0 ? 200 : UINT64_MAX,
							      .pids = pids,
							      .n_pids = i == 2,
							      .absolute = true });

		assert_int_equal(count_lines(text, "session_stacks"), i == 1);
	}
	source_deinit(&s);
}

/* A cut at whose start nothing was recorded shows since when, and until when. */
TEST(test_cut_quiet)
{
	static const struct {
		uint64_t from_ns, to_ns, quiet_ns, resumed_ns;
		bool any, paused;
	} rows[] = {
		{ 120, 180, 0, 200, true, false },    { 220, 240, 210, 300, false, true },
		{ 420, 450, 350, 500, false, false }, { 220, 550, 210, 300, true, true },
		{ 610, 620, 600, 0, false, false },
	};
	struct source s;

	source_init(&s);
	put_start_of(&s, 100, "a", "box", 1, WALL);
	put_start_of(&s, 110, "b", "box", 1, WALL);
	put_switch(&s, 150, 0, 0, 5, FXT_STATE_RUNNING);
	put_shed(&s, 190, "session", "a", false);
	put_shed(&s, 200, "session", "a", true);
	put_shed(&s, 205, "session", "a", false);
	put_shed(&s, 210, "session", "b", false);
	put_shed(&s, 300, "session", "b", true);
	put_stop_of(&s, 350, "b");
	put_stop_of(&s, 400, "a");
	put_start_of(&s, 500, "c", "box", 1, WALL);
	put_stop_of(&s, 600, "c");
	as_app(&s);
	put_event(&s, FXT_EVENT_INSTANT, 900, 5, "c", "late", 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct edit_cut_counts counts;

		free(cut_counts(&s.bytes,
				&(struct edit_cut_options){ .from_ns = rows[i].from_ns,
							    .to_ns = rows[i].to_ns,
							    .absolute = true },
				&counts));
		assert_int_equal(counts.any, rows[i].any);
		assert_int_equal(counts.quiet_ns, rows[i].quiet_ns);
		if (!rows[i].quiet_ns)
			continue;
		assert_int_equal(counts.resumed_ns, rows[i].resumed_ns);
		assert_int_equal(counts.paused, rows[i].paused);
	}
	source_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_sessions),    cmocka_unit_test(test_cut_gap),
		cmocka_unit_test(test_cut_full_of_all), cmocka_unit_test(test_cut_session_stacks),
		cmocka_unit_test(test_cut_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
