/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output of `kymo why --into`: the source, and the instances and steps of the view.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "edit/edit-why.h"
#include "reader/fxt/fxt-events.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/fixtures/why-views.h"
#include "writer/fxt/fxt-archive.h"

enum { ITEMS_MAX = 1000 };

/* An event of the tracks, as it was read. */
struct item {
	enum fxt_event_type type;
	uint64_t ts_ns, value; /* end of a complete event; id of a flow */
	uint64_t tid;
	char name[64];
	uint64_t thread, by;
	char text[256], reason[32];
};

struct tracks {
	struct item items[ITEMS_MAX];
	size_t n;
	char names[64][64]; /* by number of the track */
	size_t n_names;
	bool process_named;
	size_t n_switches;
};

static void copy_text(char *to, size_t size, const struct fxt_text *text)
{
	size_t n = text->length < size - 1 ? text->length : size - 1;

	memcpy(to, text->bytes, n);
	to[n] = '\0';
}

static void read_args(const struct fxt_record *record, struct item *item)
{
	struct fxt_args args = record->args;
	struct fxt_arg arg;

	while (fxt_args_next(&args, &arg) > 0) {
		char name[32];

		copy_text(name, sizeof(name), &arg.name);
		if (strcmp(name, "thread") == 0)
			item->thread = arg.uint64;
		else if (strcmp(name, "by") == 0)
			item->by = arg.uint64;
		else if (strcmp(name, "text") == 0)
			copy_text(item->text, sizeof(item->text), &arg.text);
		else if (strcmp(name, "reason") == 0)
			copy_text(item->reason, sizeof(item->reason), &arg.text);
	}
}

static void read_record(const struct fxt_record *record, struct tracks *to)
{
	to->n_switches += record->type == FXT_RECORD_SCHEDULING;
	if (record->type == FXT_RECORD_KERNEL_OBJECT && record->kernel_object.koid == FXT_KOID_WHY)
		to->process_named = true;
	if (record->type == FXT_RECORD_KERNEL_OBJECT &&
	    record->kernel_object.koid - FXT_KOID_WHY - 1 < 64) {
		copy_text(to->names[record->kernel_object.koid - FXT_KOID_WHY - 1],
			  sizeof(to->names[0]), &record->name);
		to->n_names++;
	}
	if (record->type != FXT_RECORD_EVENT || record->thread.pid != FXT_KOID_WHY)
		return;
	assert_true(to->n < ITEMS_MAX);
	to->items[to->n] = (struct item){
		.type = record->subtype,
		.ts_ns = record->ts_ns,
		.value = record->subtype == FXT_EVENT_DURATION_COMPLETE ? record->event.end_ns
									: record->event.value,
		.tid = record->thread.tid,
	};
	copy_text(to->items[to->n].name, sizeof(to->items[0].name), &record->name);
	read_args(record, &to->items[to->n++]);
}

static struct tracks *read_tracks(const struct outbuf *archive)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	struct tracks *t = calloc(1, sizeof(*t));
	const struct fxt_record *record;
	int r;

	assert_non_null(t);
	OK(fxt_reader_new_memory(&reader, archive->data, archive->size));
	while ((r = fxt_reader_next(reader, &record)) == FXT_READER_RECORD)
		read_record(record, t);
	assert_int_equal(r, FXT_READER_END);
	return t;
}

/* Reads ARCHIVE into new views. */
static void view(const struct outbuf *archive, struct views *v, struct why_options options)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	_cleanup_(fxt_events_freep) struct fxt_events *events = NULL;
	const struct fxt_record *record;
	const char *what;
	struct event ev;

	open_views(v, options);
	OK(fxt_reader_new_memory(&reader, archive->data, archive->size));
	OK(fxt_events_new(&events));
	while (fxt_reader_next(reader, &record) == FXT_READER_RECORD)
		if (fxt_events_get(events, record, &ev, &what) == FXT_EVENTS_EVENT)
			feed(v, ev);
	OK(summary_finish(v->summary));
	OK(why_finish(v->why));
}

static void explain(const struct outbuf *archive, const struct views *v, struct edit_output *to,
		    struct edit_why_counts *counts)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	_cleanup_(edit_why_freep) struct edit_why *e = NULL;
	const struct fxt_record *record;
	const char *what;

	OK(edit_output_init(to));
	OK(edit_why_new(&e, to, v->why, v->summary));
	OK(fxt_reader_new_memory(&reader, archive->data, archive->size));
	while (fxt_reader_next(reader, &record) == FXT_READER_RECORD) {
		OK(edit_why_record(e, record, &what));
		assert_null(what);
	}
	OK(edit_why_finish(e));
	edit_why_get_counts(e, counts);
}

static void put_wakeup_by(struct source *s, uint64_t ts, uint64_t tid, uint64_t by)
{
	const struct fxt_out_arg waker = { .type = FXT_ARG_KOID,
					   .name = fxt_named(FXT_NAME_WAKER),
					   .u64 = by };

	OK(fxt_write_wakeup(
		&s->w,
		&(struct fxt_wakeup){ .ts_ticks = ts, .tid = tid, .args = &waker, .n_args = 1 }));
}

/* HIGH waits for LOW from 10 to 60 ms, of which LOW is ready from 20 to 50 ms, since MID runs. */
static void make(struct source *s)
{
	source_init(s);
	put_start(s, 0, "host", 2, 0);
	put_task(s, HIGH, "high", 0);
	put_task(s, LOW, "low", 0);
	put_task(s, MID, "mid", 0);
	put_switch(s, 1, 0, 0, HIGH, FXT_STATE_RUNNING);
	put_switch(s, 10 * MS, 0, HIGH, LOW, FXT_STATE_BLOCKED);
	put_switch(s, 20 * MS, 0, LOW, MID, FXT_STATE_RUNNING);
	put_switch(s, 50 * MS, 0, MID, LOW, FXT_STATE_BLOCKED);
	put_wakeup_by(s, 60 * MS, HIGH, LOW);
	put_switch(s, 61 * MS, 0, LOW, HIGH, FXT_STATE_RUNNING);
	put_switch(s, 99 * MS, 0, HIGH, 0, FXT_STATE_BLOCKED);
	put_stop(s, 100 * MS);
}

static struct why_options high_only(void)
{
	return (struct why_options){
		.wants = wants_one, .userdata = &only_high, .with_idle = true, .n_worst = 1
	};
}

static const struct item *find_item(const struct tracks *t, enum fxt_event_type type,
				    const char *name, uint64_t ts_ns)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->items[i].type == type && strcmp(t->items[i].name, name) == 0 &&
		    t->items[i].ts_ns == ts_ns)
			return &t->items[i];
	fail_msg("no event %s", name);
	return NULL;
}

static void expect_step(const struct tracks *t, const char *name, uint64_t from_ns, uint64_t to_ns,
			uint64_t track, uint64_t thread, uint64_t by)
{
	const struct item *i = find_item(t, FXT_EVENT_DURATION_COMPLETE, name, from_ns);

	assert_int_equal(i->value, to_ns);
	assert_int_equal(i->tid, FXT_KOID_WHY + 1 + track);
	assert_int_equal(i->thread, thread);
	assert_int_equal(i->by, by);
}

TEST(test_tracks)
{
	struct edit_why_counts counts;
	struct edit_output out;
	const struct item *begin, *end;
	struct source s;
	struct views v;
	struct tracks *t;

	make(&s);
	view(&s.bytes, &v, high_only());
	explain(&s.bytes, &v, &out, &counts);
	t = read_tracks(&out.bytes);

	assert_true(t->process_named);
	assert_int_equal(t->n_names, 2);
	assert_int_equal(counts.tracks, 2);
	assert_string_equal(t->names[0], "1. high (11)");
	assert_string_equal(t->names[1], "1. low (12)");
	/* The instance is first, and its steps follow in the order of time. */
	assert_string_equal(t->items[0].name, "wait");
	assert_int_equal(t->items[0].ts_ns, 10 * MS);
	assert_int_equal(t->items[0].value, 61 * MS);
	assert_int_equal(t->items[0].tid, FXT_KOID_WHY + 1);
	assert_int_equal(t->items[0].thread, HIGH);
	assert_non_null(strstr(t->items[0].text, "high (11)"));
	for (size_t i = 1; i < t->n; i++)
		assert_true(t->items[i].ts_ns >= t->items[i - 1].ts_ns);
	expect_step(t, "runs", 10 * MS, 20 * MS, 1, LOW, 0);
	expect_step(t, "ready", 20 * MS, 50 * MS, 1, LOW, MID);
	expect_step(t, "runs", 50 * MS, 60 * MS, 1, LOW, 0);
	expect_step(t, "ready", 60 * MS, 61 * MS, 0, HIGH, LOW);
	assert_int_equal(counts.steps, 4);
	/* The flow is inside of the waker's step, and ends with the begin of the other. */
	begin = find_item(t, FXT_EVENT_FLOW_BEGIN, "wake", 60 * MS - 1);
	end = find_item(t, FXT_EVENT_FLOW_END, "wake", 60 * MS);
	assert_int_equal(begin->value, end->value);
	assert_int_equal(begin->tid, FXT_KOID_WHY + 2);
	assert_int_equal(end->tid, FXT_KOID_WHY + 1);
	assert_int_equal(counts.flows, 1);
	assert_int_equal(t->n, 7);
	/* The end of the flow comes after the step in which it is. */
	assert_true(end > find_item(t, FXT_EVENT_DURATION_COMPLETE, "ready", 60 * MS));
	/* The source is unchanged. */
	assert_int_equal(t->n_switches, 7);
	assert_int_equal(counts.replaced, 0);
	assert_int_equal(counts.copied.refused, 0);
	free(t);
	close_views(&v);
	edit_output_deinit(&out);
	source_deinit(&s);
}

/* The tracks of an earlier run are left out, and so are their names. */
TEST(test_replace)
{
	struct edit_why_counts counts;
	struct edit_output out, again;
	struct tracks *t;
	struct source s;
	struct views v;

	make(&s);
	view(&s.bytes, &v, high_only());
	explain(&s.bytes, &v, &out, &counts);
	close_views(&v);
	view(&out.bytes, &v, (struct why_options){ .what = WHY_INSTANCE_WINDOW, .n_worst = 1 });
	explain(&out.bytes, &v, &again, &counts);
	assert_int_equal(counts.replaced, 7);
	t = read_tracks(&again.bytes);
	assert_string_equal(t->items[0].name, "window");
	for (size_t i = 1; i < t->n; i++)
		assert_string_not_equal(t->items[i].name, "wait");
	assert_int_equal(t->n_names, counts.tracks);
	assert_int_equal(t->n_switches, 7);
	free(t);
	close_views(&v);
	edit_output_deinit(&out);
	edit_output_deinit(&again);
	source_deinit(&s);
}

/* A path with more threads than tracks: the others are one track, and all steps are there. */
TEST(test_others)
{
	enum { CHAIN = 30 };
	struct edit_why_counts counts;
	struct edit_output out;
	struct tracks *t;
	struct source s;
	struct views v;

	source_init(&s);
	put_start(&s, 0, "host", 2, 0);
	put_task(&s, HIGH, "high", 0);
	put_switch(&s, 1, 0, 0, HIGH, FXT_STATE_RUNNING);
	for (uint32_t i = 0; i <= CHAIN; i++)
		put_switch(&s, MS + i * MS / 10, 0, i ? 99 + i : HIGH, i < CHAIN ? 100 + i : HIGH,
			   i ? FXT_STATE_BLOCKED : FXT_STATE_RUNNING);
	/* Each thread runs for 1 ms, and wakes the next one; the last one wakes HIGH. */
	for (uint32_t i = 0; i < CHAIN; i++) {
		put_switch(&s, (10 + i) * MS, 0, i ? 99 + i : HIGH, 100 + i, FXT_STATE_BLOCKED);
		put_wakeup_by(&s, (11 + i) * MS - 1, i + 1 < CHAIN ? 101 + i : HIGH, 100 + i);
	}
	put_switch(&s, (10 + CHAIN) * MS, 0, 99 + CHAIN, HIGH, FXT_STATE_BLOCKED);
	put_stop(&s, 100 * MS);
	view(&s.bytes, &v, high_only());
	explain(&s.bytes, &v, &out, &counts);
	t = read_tracks(&out.bytes);
	assert_true(v.why->worst[0].path.n_steps >= CHAIN);
	assert_int_equal(counts.steps, v.why->worst[0].path.n_steps);
	assert_int_equal(counts.tracks, EDIT_WHY_TRACKS_MAX + 1);
	assert_int_equal(t->n_names, counts.tracks);
	assert_string_equal(t->names[EDIT_WHY_TRACKS_MAX], "1. others");
	free(t);
	close_views(&v);
	edit_output_deinit(&out);
	source_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tracks),
		cmocka_unit_test(test_replace),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
