/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open spans, and ends without a begin.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "edit/edit-spans.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/unit.h"

struct script {
	struct edit_spans *spans;
	char text[4096];
	size_t n;
};

static int write_down(void *userdata, const struct fxt_provider *from,
		      const struct fxt_record *record)
{
	struct script *s = userdata;

	assert_ptr_equal(record->provider, from);
	s->n += (size_t)snprintf(s->text + s->n, sizeof(s->text) - s->n, "%llu %u %.*s/%.*s %llu\n",
				 (unsigned long long)record->ts_ns, record->subtype,
				 (int)record->category.length, record->category.bytes,
				 (int)record->name.length, record->name.bytes,
				 (unsigned long long)record->thread.tid);
	return 0;
}

static int take(struct script *s, enum fxt_event_type type, uint64_t ts, uint64_t tid,
		const char *name, uint64_t id)
{
	struct fxt_record r = { .type = FXT_RECORD_EVENT,
				.subtype = type,
				.ts_ns = ts,
				.thread = { 1, tid, true },
				.category = { "c", 1, 0, 0 },
				.name = { name, name ? (uint32_t)strlen(name) : 0, 0, 0 },
				.event = { .value = id } };

	return edit_spans_process(s->spans, NULL, &r);
}

#define KEPT(call)    assert_int_equal(call, EDIT_SPANS_KEEP)
#define DROPPED(call) assert_int_equal(call, EDIT_SPANS_DROP)

static void complete(struct script *s, uint64_t ts, uint64_t tid, uint64_t end_ns)
{
	struct fxt_record r = { .type = FXT_RECORD_EVENT,
				.subtype = FXT_EVENT_DURATION_COMPLETE,
				.ts_ns = ts,
				.thread = { 1, tid, true },
				.event = { .end_ns = end_ns } };

	KEPT(edit_spans_process(s->spans, NULL, &r));
}

static void begin(struct script *s)
{
	*s = (struct script){ 0 };
	OK(edit_spans_new(&s->spans, write_down, s));
}

static void end(struct script *s, const char *expected)
{
	assert_string_equal(s->text, expected);
	edit_spans_free(s->spans);
}

TEST(test_spans_nest)
{
	struct script s;
	uint64_t end_ns;

	begin(&s);
	DROPPED(take(&s, FXT_EVENT_DURATION_END, 1, 5, "x", 0));
	KEPT(take(&s, FXT_EVENT_DURATION_BEGIN, 2, 5, "outer", 0));
	KEPT(take(&s, FXT_EVENT_DURATION_BEGIN, 3, 5, "inner", 0));
	KEPT(take(&s, FXT_EVENT_DURATION_BEGIN, 4, 6, "other thread", 0));
	KEPT(take(&s, FXT_EVENT_DURATION_END, 5, 5, NULL, 0));
	assert_int_equal(edit_spans_n_open(s.spans), 2);
	OK(edit_spans_open(s.spans, 2, 10));
	OK(edit_spans_open(s.spans, UINT64_MAX, 11));
	OK(edit_spans_close(s.spans, 12, &end_ns));
	assert_int_equal(end_ns, 12);
	assert_int_equal(edit_spans_n_open(s.spans), 0);
	end(&s, "10 2 c/outer 5\n11 2 c/other thread 6\n12 3 c/other thread 6\n12 3 c/outer 5\n");
}

TEST(test_spans_ids)
{
	struct script s;
	uint64_t end_ns;

	begin(&s);
	KEPT(take(&s, FXT_EVENT_ASYNC_BEGIN, 1, 5, "a", 7));
	KEPT(take(&s, FXT_EVENT_FLOW_BEGIN, 2, 5, "f", 7));
	KEPT(take(&s, FXT_EVENT_ASYNC_INSTANT, 3, 6, "a", 7));
	DROPPED(take(&s, FXT_EVENT_ASYNC_INSTANT, 3, 6, "a", 8));
	KEPT(take(&s, FXT_EVENT_FLOW_STEP, 4, 6, "f", 7));
	DROPPED(take(&s, FXT_EVENT_FLOW_END, 4, 6, "f", 8));
	KEPT(take(&s, FXT_EVENT_ASYNC_END, 5, 6, "a", 7));
	DROPPED(take(&s, FXT_EVENT_ASYNC_END, 6, 6, "a", 7));
	KEPT(take(&s, FXT_EVENT_INSTANT, 6, 6, "i", 0));
	KEPT(take(&s, FXT_EVENT_COUNTER, 6, 6, "i", 0));
	KEPT(take(&s, FXT_EVENT_DURATION_COMPLETE, 6, 6, "i", 9));
	OK(edit_spans_close(s.spans, 9, &end_ns));
	assert_int_equal(end_ns, 9);
	end(&s, "9 10 c/f 5\n");
}

/* The ends of several threads are in the order of their times. */
TEST(test_spans_close_in_order)
{
	struct script s;
	uint64_t end_ns;

	begin(&s);
	KEPT(take(&s, FXT_EVENT_DURATION_BEGIN, 1, 5, "outer", 0));
	KEPT(take(&s, FXT_EVENT_DURATION_BEGIN, 2, 5, "inner", 0));
	KEPT(take(&s, FXT_EVENT_DURATION_BEGIN, 3, 6, "late", 0));
	KEPT(take(&s, FXT_EVENT_ASYNC_BEGIN, 4, 6, "async", 1));
	complete(&s, 4, 5, 15);
	complete(&s, 5, 6, 20);
	OK(edit_spans_close(s.spans, 10, &end_ns));
	assert_int_equal(end_ns, 20);
	end(&s, "10 7 c/async 6\n15 3 c/inner 5\n15 3 c/outer 5\n20 3 c/late 6\n");
}

/* If there are too many spans to follow, their ends are kept: no half may be dropped. */
TEST(test_spans_too_many)
{
	static char name[30000];
	unsigned n = 2000;
	struct script s;

	memset(name, 'n', sizeof(name) - 1);
	begin(&s);
	for (unsigned i = 1; i <= n; i++)
		KEPT(take(&s, FXT_EVENT_ASYNC_BEGIN, i, 5, name, i));
	assert_in_range(edit_spans_n_open(s.spans), 1000, n - 1);
	for (unsigned i = 1; i <= n; i++)
		KEPT(take(&s, FXT_EVENT_ASYNC_END, n + i, 5, name, i));
	assert_int_equal(edit_spans_n_open(s.spans), 0);
	DROPPED(take(&s, FXT_EVENT_ASYNC_END, 3 * n, 5, name, 1));
	end(&s, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spans_nest),
		cmocka_unit_test(test_spans_ids),
		cmocka_unit_test(test_spans_close_in_order),
		cmocka_unit_test(test_spans_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
