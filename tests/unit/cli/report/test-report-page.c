/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page of a recording: names in an archive never become markup, and the size has a bound.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/report/report.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-wire.h"

#define HOSTILE "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&]]>-->"
#define MS      UINT64_C(1000000)

enum { PAGE_MAX = 2 << 20 };

struct test {
	struct report report;
	struct nothing_there parts;
	struct outbuf page;
};

static void add(struct test *t, struct event ev)
{
	nothing_there_note(&t->parts, &ev);
	assert_int_equal(report_add(&t->report, &ev), 0);
}

static void begin(struct test *t, const char *text)
{
	*t = (struct test){ 0 };
	assert_int_equal(report_init(&t->report), 0);
	t->report.name = t->report.title = text;
	t->report.parts = &t->parts;
	add(t, (struct event){ .kind = EVENT_START,
			       .ts_ns = 5 * MS,
			       .start = { text, text, text, text, text, text, text, 2 } });
}

/* Makes the page, which ends with a NUL. */
static const char *finish(struct test *t, uint64_t ts_ns)
{
	add(t, (struct event){ .kind = EVENT_STOP, .ts_ns = ts_ns, .stop = { .reason = "" } });
	assert_int_equal(report_finish(&t->report), 0);
	assert_int_equal(report_page(&t->report, &t->page), 0);
	assert_int_equal(outbuf_append(&t->page, "", 1), 0);
	return (const char *)t->page.data;
}

static void end(struct test *t)
{
	report_deinit(&t->report);
	outbuf_deinit(&t->page);
}

static void task(struct test *t, uint32_t pid, const char *name)
{
	for (unsigned process = 0; process < 2; process++)
		add(t, (struct event){ .kind = EVENT_TASK,
				       .ts_ns = 6 * MS,
				       .pid = pid,
				       .tid = process ? 0 : pid,
				       .task = { .comm = name,
						 .command_line = name,
						 .uid = 1000,
						 .is_process = process } });
}

static void sw(struct test *t, uint64_t ts_ns, uint32_t cpu, uint32_t out, uint32_t in)
{
	add(t, (struct event){ .kind = EVENT_SWITCH,
			       .ts_ns = ts_ns,
			       .cpu = cpu,
			       .tid = out,
			       .sw = { .next_tid = in, .prev_prio = 120, .next_prio = 120 } });
}

static unsigned count(const char *page, const char *text)
{
	unsigned n = 0;

	for (const char *p = page; (p = strstr(p, text)); p += strlen(text))
		n++;
	return n;
}

/* The page has exactly the elements that it should have. */
static void assert_inert(const char *page)
{
	assert_int_equal(count(page, "<script"), 1);
	assert_int_equal(count(page, "</script"), 1);
	assert_int_equal(count(page, "]]>"), 1);
	assert_null(strstr(page, "<img"));
	assert_null(strstr(page, "-->"));
	assert_null(strstr(page, "\"'&]"));
	/* nothing is loaded */
	assert_null(strstr(page, " src=\""));
	assert_null(strstr(page, "url("));
	assert_null(strstr(page, "@import"));
	assert_null(strstr(page, "https:"));
	assert_non_null(strstr(page, "&lt;script&gt;alert(1)"));
}

TEST(test_report_page_escapes)
{
	static const uint64_t frames[] = { 0x1000, 0x2000 };
	struct test t;

	begin(&t, HOSTILE);
	task(&t, 11, HOSTILE);
	task(&t, 12, HOSTILE);
	add(&t, (struct event){ .kind = EVENT_MAPPING,
				.ts_ns = 6 * MS,
				.pid = 11,
				.mapping = { .path = "/lib/" HOSTILE, .size = 0x10000 } });
	sw(&t, 10 * MS, 0, 0, 11);
	sw(&t, 20 * MS, 0, 11, 12);
	add(&t, (struct event){ .kind = EVENT_SAMPLE,
				.ts_ns = 15 * MS,
				.pid = 11,
				.tid = 11,
				.sample = { frames, 2 } });
	add(&t, (struct event){ .kind = EVENT_WAKE, .ts_ns = 21 * MS, .tid = 11 });
	sw(&t, 90 * MS, 0, 12, 11);
	add(&t, (struct event){ .kind = EVENT_MARK, .ts_ns = 30 * MS, .mark = { HOSTILE } });
	add(&t, (struct event){
			.kind = EVENT_CALL,
			.ts_ns = 31 * MS,
			.pid = 11,
			.tid = 11,
			.call = { .function = HOSTILE, .end_ns = 32 * MS, .left_by = "return" } });
	add(&t, (struct event){ .kind = EVENT_LOST, .ts_ns = 40 * MS, .lost = { HOSTILE, 7 } });
	assert_inert(finish(&t, 100 * MS));
	end(&t);
}

/* Losses come first, and an empty section says why. */
TEST(test_report_page_order)
{
	const char *page;
	struct test t;

	begin(&t, "a.fxt");
	page = finish(&t, 100 * MS);
	assert_non_null(strstr(page, "No event was lost"));
	assert_true(strstr(page, "id=\"losses\"") > strstr(page, "id=\"recording\""));
	assert_non_null(strstr(page, "record them with"));
	end(&t);

	begin(&t, "a.fxt");
	add(&t, (struct event){ .kind = EVENT_LOST, .ts_ns = 40 * MS, .lost = { "sched", 7 } });
	page = finish(&t, 100 * MS);
	assert_non_null(strstr(page, "7 events of class"));
	assert_true(strstr(page, "id=\"losses\"") < strstr(page, "id=\"recording\""));
	end(&t);
}

/* Every address has a long name of its own, which grows when it is escaped. */
static int find(void *userdata, const struct profile_place *place, const struct frame **ret)
{
	static char name[280];
	static const struct frame frame = { .function = name, .source = "", .module = "" };

	memset(name, '&', sizeof(name) - 1);
	snprintf(name, sizeof(name), "%llx", (unsigned long long)place->address);
	name[strlen(name)] = '<';
	*ret = &frame;
	return 1;
}

TEST(test_report_page_size)
{
	enum { STACKS = 4000, DEPTH = 12, CPUS = 300, TASKS = 2000 };
	const uint64_t hour = 3600 * 1000 * MS;
	struct test t;

	begin(&t, "a.fxt");
	t.report.names.find = find;
	add(&t, (struct event){ .kind = EVENT_MAPPING,
				.ts_ns = 6 * MS,
				.pid = 1000,
				.mapping = { .path = "/lib/x.so", .size = UINT32_MAX } });
	for (uint32_t i = 0; i < TASKS; i++)
		task(&t, 1000 + i, "&&&&&&&&&&&&&&&");
	for (uint32_t i = 0; i < 20 * CPUS; i++) {
		uint64_t at = (i + 1) * (hour / (20 * CPUS + 2));

		sw(&t, at, i % CPUS, 0, 1000 + i % TASKS);
		sw(&t, at + (i * 7919 % 300) * MS, i % CPUS, 1000 + i % TASKS, 0);
	}
	for (uint32_t i = 0; i < STACKS; i++) {
		uint64_t frames[DEPTH];

		for (uint32_t k = 0; k < DEPTH; k++)
			frames[k] = 0x1000 + (uint64_t)(i >> (DEPTH - 1 - k)) * 64 + k;
		add(&t, (struct event){ .kind = EVENT_SAMPLE,
					.ts_ns = 15 * MS + i,
					.pid = 1000,
					.tid = 1000,
					.sample = { frames, DEPTH } });
	}
	finish(&t, hour);
	assert_true(t.page.size < PAGE_MAX);
	/* the frames that are left out are counted */
	assert_non_null(strstr((const char *)t.page.data, "are not drawn ("));
	end(&t);
}

static int find_long(void *userdata, const struct profile_place *place, const struct frame **ret)
{
	static char name[30001];
	static const struct frame frame = { .function = name, .source = "", .module = "" };

	memset(name, '<', sizeof(name) - 1);
	*ret = &frame;
	return 1;
}

/* Texts of an archive can be as long as its format permits. */
TEST(test_report_page_long_texts)
{
	static char text[30001];
	uint64_t frames[100];
	const char *page;
	struct test t;

	memset(text, '&', sizeof(text) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		frames[i] = 0x1000 * (i + 1);
	begin(&t, text);
	t.report.names.find = find_long;
	add(&t, (struct event){ .kind = EVENT_MAPPING,
				.ts_ns = 6 * MS,
				.pid = 11,
				.mapping = { .path = "/lib/x.so", .size = UINT32_MAX } });
	for (uint32_t i = 0; i < 100; i++) {
		task(&t, 11 + i, text);
		sw(&t, (10 + i) * MS, 0, 10 + i, 11 + i);
		add(&t,
		    (struct event){ .kind = EVENT_MARK, .ts_ns = (10 + i) * MS, .mark = { text } });
	}
	add(&t, (struct event){ .kind = EVENT_SAMPLE,
				.ts_ns = 15 * MS,
				.pid = 11,
				.tid = 11,
				.sample = { frames, ARRAY_SIZE(frames) } });
	page = finish(&t, 200 * MS);
	assert_true(t.page.size < PAGE_MAX);
	assert_non_null(strstr(page, "The graph is left out"));
	end(&t);
}

/* The path leads from the owner of a lock, which is not known to have woken the thread. */
TEST(test_report_page_lock)
{
	const char *page;
	struct test t;

	begin(&t, "a.fxt");
	task(&t, 11, "waits");
	task(&t, 12, "owns");
	sw(&t, 10 * MS, 0, 0, 11);
	add(&t, (struct event){ .kind = EVENT_SWITCH,
				.ts_ns = 20 * MS,
				.tid = 11,
				.sw = { .state = 'S', .out_state = FXT_STATE_BLOCKED } });
	sw(&t, 20 * MS, 1, 0, 12);
	add(&t, (struct event){ .kind = EVENT_OFFCPU,
				.ts_ns = 20 * MS,
				.pid = 11,
				.tid = 11,
				.offcpu = { .end_ns = 100 * MS,
					    .state = 'S',
					    .left_by = "open",
					    .syscall = "futex",
					    .fd = -1,
					    .address = 0x1000,
					    .owner_tid = 12 } });
	page = finish(&t, 100 * MS);
	assert_non_null(strstr(page, "owns (12) runs, with the lock for which waits (11) waits<"));
	assert_null(strstr(page, "then wakes"));
	end(&t);
}

/* The notes of `kymo why` are on the page: this one is about half of a pair of tracepoints. */
TEST(test_report_page_notes)
{
	const char *page;
	struct test t;

	begin(&t, "a.fxt");
	task(&t, 11, "reclaims");
	sw(&t, 10 * MS, 0, 0, 11);
	/* (two begins in succession: ends are not recorded) */
	for (uint64_t i = 0; i < 2; i++)
		add(&t,
		    (struct event){ .kind = EVENT_TRACEPOINT,
				    .ts_ns = (11 + i) * MS,
				    .pid = 11,
				    .tid = 11,
				    .tracepoint.name = "vmscan:mm_vmscan_direct_reclaim_begin" });
	page = finish(&t, 100 * MS);
	assert_non_null(strstr(page, "only the begin of each direct reclaim"));
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report_page_escapes),
		cmocka_unit_test(test_report_page_order),
		cmocka_unit_test(test_report_page_size),
		cmocka_unit_test(test_report_page_long_texts),
		cmocka_unit_test(test_report_page_lock),
		cmocka_unit_test(test_report_page_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
