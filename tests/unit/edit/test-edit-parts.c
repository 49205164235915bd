/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An archive that was cut into parts, at any places, and merged again has each record once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/edit-parts.h"
#include "tests/support/unit.h"

enum { WALL = 1700000000, BEGIN = 1000, END = 3000, THREADS = 8, CPUS = 2 };

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

/* ---- an archive with all that can cross a cut ---- */

static struct fxt_out_arg number(const char *name, uint64_t value)
{
	return (struct fxt_out_arg){ FXT_ARG_UINT64, fxt_interned(name), .u64 = value };
}

static struct fxt_out_arg text(const char *name, const char *value)
{
	return (struct fxt_out_arg){ FXT_ARG_STRING, fxt_interned(name),
				     .text = fxt_interned(value) };
}

/* Something that begins or changes a state, at TS. I: its number. */
static void put_state(struct source *s, uint64_t ts, unsigned i)
{
	const struct fxt_out_arg stack = number("id", i);
	const struct fxt_out_arg watch[] = { text("resources", "memory") };
	const struct fxt_out_arg alloc[] = {
		text("resource", "memory"),
		{ FXT_ARG_POINTER, fxt_interned("address"), .u64 = 0x1000 + i % 5 },
		number("size", i),
	};
	const struct fxt_out_arg frequency = { FXT_ARG_UINT32, fxt_interned("frequency"),
					       .u32 = (uint32_t)random_below(1 << 30) };
	const struct fxt_out_arg usage[] = { text("resource", "memory"), number("stack", i % 3),
					     number("blocks", i) };
	const struct fxt_out_arg point[] = {
		{ FXT_ARG_UINT32, fxt_interned("point"), .u32 = i % 4 },
		text("plan", i % 4 == 1 ? "a" : "b"),
	};
	const struct fxt_out_arg mapping[] = {
		{ FXT_ARG_KOID, fxt_interned("process"), .u64 = 10 },
		{ FXT_ARG_POINTER, fxt_interned("start"), .u64 = (uint64_t)(i % 6) << 12 },
		number("size", 4096),
	};

	switch (i % 10) {
	case 0:
		put_task(s, 10 + i % THREADS, i % 20 ? "one" : "another", 1);
		break;
	case 1:
		put_event_args(s, ts, 10, "memory", "stack", &stack, 1);
		put_backtrace(s, ts, 10);
		break;
	case 2:
		put_event_args(s, ts, 10, "memory", "alloc", alloc, 3);
		break;
	case 3:
		put_event_args(s, ts, 10, "memory", "free", alloc, 2);
		break;
	case 4:
		put_event_args(s, ts, 10, "memory", "usage", usage, 3);
		break;
	case 5:
		put_event_args(s, ts, FXT_KOID_KYMO, "moments", "point", point, 2);
		break;
	case 6:
		put_event_args(s, ts, FXT_KOID_CODE, "profile", "mapping", mapping, 3);
		break;
	case 7:
		put_shed(s, ts, "stacks", "s", i / 10 % 2);
		break;
	case 8:
		put_event_args(s, ts, FXT_KOID_KYMO, "profile", "sampling", &frequency, 1);
		break;
	default:
		if (i / 10 % 10 == 0)
			put_event_args(s, ts, 10, "memory", "watch", watch, 1);
		else
			put_backtrace(s, ts, 11);
	}
}

/* Complete events, as kymo and as a program write them: at their ends, and at their begins. */
static void put_intervals(struct source *s, uint64_t ts)
{
	const struct fxt_out_arg arg = number("x", ts), result = number("return", 1);
	const struct fxt_out_arg args[] = { arg, result };
	const struct fxt_out_arg left[] = { arg, text("left by", "unwound") };
	const struct fxt_out_arg wait[] = { text("state", "S"), text("begun", "earlier") };
	struct fxt_out_arg many[FXT_ARGS_MAX - 4];
	uint64_t from = ts - random_below(ts - BEGIN + 1);

	for (unsigned i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = arg;
	switch (random_below(6)) {
	case 0:
		put_complete(s, from, ts, "calls", "f", args, 2);
		break;
	case 1:
		put_complete(s, from, ts, "calls", "g", left, 2);
		break;
	case 2:
		put_complete(s, from, ts, "profile", "offcpu", wait, (unsigned)random_below(3));
		break;
	case 3:
		put_complete(s, from, ts, "calls", "h", many, ARRAY_SIZE(many));
		break;
	default:
		as_app(s);
		put_complete(s, ts, ts + random_below(END - ts + 1), "c", "later", args, 1);
		as_kymo(s);
	}
}

/* Begins and ends of intervals of a program. */
static void put_spans(struct source *s, uint64_t ts, unsigned *depth, uint64_t *id)
{
	as_app(s);
	switch (random_below(5)) {
	case 0:
		put_event(s, FXT_EVENT_DURATION_BEGIN, ts, 12, "c", "span", 0);
		++*depth;
		break;
	case 1:
		if (*depth > 0) {
			put_event(s, FXT_EVENT_DURATION_END, ts, 12, "c", "span", 0);
			--*depth;
		}
		break;
	case 2:
		put_event(s, FXT_EVENT_ASYNC_BEGIN, ts, 12, "c", "async", ++*id);
		break;
	case 3:
		if (*id > 0)
			put_event(s, FXT_EVENT_ASYNC_END, ts, 12, "c", "async", (*id)--);
		break;
	default:
		put_event(s, FXT_EVENT_COUNTER, ts, 12, "c", "count", 1);
	}
	as_kymo(s);
}

static void make(struct source *s)
{
	uint64_t runs[CPUS] = { 0 }, id = 0;
	unsigned depth = 0;

	random_state = 88172645463325252;
	source_init(s);
	put_start_of(s, BEGIN, "s", "box", CPUS, WALL);
	for (unsigned i = 0; i < THREADS; i++)
		put_task(s, 10 + i, "task", 1);
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		put_switch(s, BEGIN, cpu, 0, 0, FXT_STATE_RUNNING);
	for (uint64_t ts = BEGIN + 1; ts < END; ts += random_below(3)) {
		/* (threads of even numbers run on the one, the others on the other) */
		uint32_t cpu = (uint32_t)random_below(CPUS);
		uint64_t next = random_below(4) * 2 + cpu;

		next = next < 2 ? 0 : 10 + next;
		if (next != runs[cpu])
			put_switch(s, ts, cpu, runs[cpu], next, FXT_STATE_BLOCKED);
		runs[cpu] = next;
		if (random_below(3) == 0)
			put_state(s, ts, (unsigned)ts);
		if (random_below(4) == 0)
			put_intervals(s, ts);
		put_spans(s, ts, &depth, &id);
		/* A CPU that is late. */
		if (random_below(8) == 0)
			put_event(s, FXT_EVENT_INSTANT, ts - random_below(ts - BEGIN), 13, "irq",
				  "late", 0);
	}
	as_app(s);
	for (; depth > 0; depth--)
		put_event(s, FXT_EVENT_DURATION_END, END, 12, "c", "span", 0);
	for (; id > 0; id--)
		put_event(s, FXT_EVENT_ASYNC_END, END, 12, "c", "async", id);
	as_kymo(s);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		put_switch(s, END, cpu, runs[cpu], 0, FXT_STATE_RUNNING);
	put_stop_of(s, END, "s");
}

static int compare_places(const void *a, const void *b)
{
	return *(const uint64_t *)a < *(const uint64_t *)b ? -1 : 1;
}

/* The same with the part of ARCHIVE from the first of N PLACES on. */
static void assert_part_is_whole(const struct outbuf *archive, const uint64_t *places, unsigned n)
{
	const struct edit_cut_options options = { .from_ns = places[0],
						  .to_ns = UINT64_MAX,
						  .absolute = true };
	struct edit_cut_counts counts;
	struct edit_output part;

	if (n < 2)
		return;
	cut_bytes(archive, &options, &part, &counts);
	assert_whole(&part.bytes, places + 1, n - 1);
	edit_output_deinit(&part);
}

/* (KYMO_TEST_ROUNDS sets the number of rounds, to search for more) */
TEST(test_parts_anywhere)
{
	const char *more = getenv("KYMO_TEST_ROUNDS");
	unsigned n_rounds = more ? (unsigned)atoi(more) : unit_rounds(12);
	struct source s;

	make(&s);
	for (unsigned round = 0; round < n_rounds; round++) {
		unsigned n = 1 + round % (PARTS_MAX - 1);
		uint64_t places[PARTS_MAX];

		for (unsigned i = 0; i < n; i++)
			places[i] = BEGIN + 1 + random_below(END - BEGIN - 1);
		qsort(places, n, sizeof(*places), compare_places);
		assert_whole(&s.bytes, places, n);
		assert_part_is_whole(&s.bytes, places, n);
	}
	source_deinit(&s);
}

/*
 * kymo writes a complete event at its end, and a stack of allocations some time after the first of
 * them. That can be later than the window of a cut can sort.
 */
LARGE_TEST(test_parts_late_events)
{
	enum { N = 200000 };
	const uint64_t places[] = { BEGIN + 100, BEGIN + 200 };
	const struct fxt_out_arg id = number("id", 7);
	struct source s;

	source_init(&s);
	put_start_of(&s, BEGIN, "s", "box", 1, WALL);
	put_task(&s, 10, "task", 1);
	for (unsigned i = 0; i < N; i++)
		put_event(&s, FXT_EVENT_INSTANT, BEGIN + i, 10, "c", "n", 0);
	put_complete(&s, BEGIN + 1, BEGIN + N, "calls", "over both", NULL, 0);
	put_complete(&s, BEGIN + 150, BEGIN + N, "calls", "over one", NULL, 0);
	put_complete(&s, BEGIN + 2, BEGIN + 150, "calls", "over the other", NULL, 0);
	put_complete(&s, BEGIN + 110, BEGIN + 150, "calls", "within", NULL, 0);
	put_complete(&s, BEGIN + 3, BEGIN + 10, "calls", "before", NULL, 0);
	put_event_args(&s, BEGIN + 50, 10, "memory", "stack", &id, 1);
	put_backtrace(&s, BEGIN + 50, 10);
	/* (also before all others) */
	put_complete(&s, BEGIN - 2, BEGIN + 10, "calls", "early", NULL, 0);
	put_complete(&s, BEGIN - 2, BEGIN + N, "calls", "early and over all", NULL, 0);
	for (uint64_t at = BEGIN - 1; at < BEGIN + 250; at += 83) {
		put_task(&s, 11, "late", 1);
		put_event(&s, FXT_EVENT_INSTANT, at, 10, "c", "late", 0);
		put_event(&s, FXT_EVENT_COUNTER, at, 10, "c", "late", at);
		put_backtrace(&s, at, 10);
		OK(fxt_write_log(&s.w, &(struct fxt_log){ .ts_ticks = at,
							  .thread = { 10, 10 },
							  .text = "late",
							  .length = 4 }));
	}
	put_stop_of(&s, BEGIN + N, "s");
	assert_whole(&s.bytes, places, ARRAY_SIZE(places));
	source_deinit(&s);
}

/* A record of each kind without a time. I: a number that tells them from others. */
static void put_timeless(struct source *s, unsigned i)
{
	const struct fxt_out_arg koid = { FXT_ARG_KOID, fxt_interned("process"), .u64 = 10 };
	char name[16];

	snprintf(name, sizeof(name), "name%u", i);
	put_task(s, 10, name, 1);
	put_task(s, 11, i % 3 ? "known" : "?", 1);
	OK(fxt_write_kernel_object(&s->w, &(struct fxt_kernel_object){ 9, 77, fxt_interned(name),
								       &koid, 1 }));
	as_app(s);
	OK(fxt_write_provider_event(&s->w, i % 2));
	OK(fxt_write_userspace_object(
		&s->w, &(struct fxt_userspace_object){ .pointer = 0x100 + i,
						       .process = { 10, 10 },
						       .name = fxt_interned(name) }));
	OK(fxt_write_blob(&s->w, &(struct fxt_blob){ .name = fxt_interned(name),
						     .type = FXT_BLOB_DATA,
						     .data = "blob",
						     .size = 4 }));
	OK(fxt_write_large_blob(&s->w, &(struct fxt_large_blob){ .category = fxt_interned("c"),
								 .name = fxt_interned(name),
								 .data = "blob",
								 .size = 4 }));
	as_kymo(s);
}

/*
 * Records without a time, before and behind all others, also those before the session. Records that
 * kymo writes late take the names that precede them in the file with them, to before the session.
 */
TEST(test_parts_without_time)
{
	const struct fxt_out_arg frequency = { FXT_ARG_UINT32, fxt_interned("frequency"),
					       .u32 = 99 };

	for (unsigned late = 0; late < 3; late++) {
		struct source s;

		source_init(&s);
		put_timeless(&s, 0);
		put_timeless(&s, 1);
		put_start_of(&s, BEGIN, "s", "box", 1, WALL);
		for (unsigned i = 2; i < 8; i++) {
			put_timeless(&s, i);
			put_timeless(&s, i);
			put_event(&s, FXT_EVENT_INSTANT, BEGIN + i, 10, "c", "n", 0);
			put_timeless(&s, i);
			if (late > 0 && i == 5)
				put_complete(&s, BEGIN - 2 + late, BEGIN + 20, "calls", "late",
					     NULL, 0);
			as_app(&s);
			OK(fxt_write_provider_event(&s.w, 0));
			as_kymo(&s);
			put_event_args(&s, BEGIN + i, FXT_KOID_KYMO, "profile", "sampling",
				       &frequency, 1);
		}
		put_stop_of(&s, BEGIN + 30, "s");
		put_timeless(&s, 9);
		for (uint64_t at = BEGIN - (late == 1) + 1; at < BEGIN + 30; at++)
			assert_whole(&s.bytes, &at, 1);
		source_deinit(&s);
	}
}

/* A part without its end has perhaps not all changes of the state: the next part keeps its own. */
TEST(test_parts_cut_off)
{
	struct edit_output parts[2];
	const struct outbuf *list[] = { &parts[0].bytes, &parts[1].bytes };
	struct edit_cut_counts counts;
	struct source s;

	source_init(&s);
	put_start_of(&s, 100, "s", "box", 1, WALL);
	put_task(&s, 10, "task", 1);
	for (unsigned i = 0; i < 10; i++)
		put_event(&s, FXT_EVENT_COUNTER, 110 + i, 10, "c", "count", 1);
	put_complete(&s, 115, 210, "calls", "f", NULL, 0);
	put_event(&s, FXT_EVENT_INSTANT, 220, 10, "c", "last", 0);
	put_stop_of(&s, 300, "s");
	for (unsigned i = 0; i < 2; i++)
		cut_bytes(&s.bytes,
			  &(struct edit_cut_options){ .from_ns = i ? 200 : 0,
						      .to_ns = i ? UINT64_MAX : 200,
						      .absolute = true },
			  &parts[i], &counts);
	for (unsigned i = 0; i < 2; i++) {
		_cleanup_free_ char *merged = NULL;

		parts[0].bytes.size -= i ? 480 : 0; /* its end, and a bit more */
		merged = merge_text(list, 2, NULL);
		assert_int_equal(count_lines(merged, "kymo: 200 counter"), i);
		assert_int_equal(count_lines(merged, "session_start"), 1 + i);
		assert_line(merged, "kymo: 115 complete calls/f 10/10 ..210");
		assert_int_equal(count_lines(merged, "calls/f"), 1);
	}
	for (unsigned i = 0; i < 2; i++)
		edit_output_deinit(&parts[i]);
	source_deinit(&s);
}

/*
 * A part can be cut off between two records, which is no damage. If it lacks some of its state, the
 * part before keeps its end.
 */
TEST(test_parts_cut_off_in_state)
{
	struct edit_output parts[2];
	const struct outbuf *list[] = { &parts[0].bytes, &parts[1].bytes };
	unsigned n_incomplete = 0, n_complete = 0;
	struct edit_cut_counts counts;
	struct source s;
	size_t size;

	make_small(&s, "f", 10);
	for (unsigned i = 0; i < 2; i++)
		cut_at_200(&s.bytes, i, &parts[i], &counts);
	size = parts[1].bytes.size;
	/* (not the magic number) */
	for (size_t at = FXT_WORD_BYTES; at < size;) {
		_cleanup_free_ char *second = NULL, *merged = NULL;
		bool complete;

		parts[1].bytes.size = at;
		second = edited_text(&parts[1].bytes);
		merged = merge_text(list, 2, NULL);
		complete = count_lines(second, "class:string=records") > 0;
		if (count_lines(merged, "session_stop") !=
			    !complete + count_lines(second, "session_stop") ||
		    count_lines(merged, "session_start") !=
			    1 + (complete ? 0 : count_lines(second, "session_start")) ||
		    count_lines(merged, "calls/f") != 1)
			fail_msg("cut off at %zu:\n%s", at, merged);
		n_complete += complete;
		n_incomplete += !complete;
		at += FXT_WORD_BYTES *
		      fxt_get_record_words(*(const uint64_t *)(parts[1].bytes.data + at));
	}
	assert_true(n_complete > 0 && n_incomplete > 0);
	for (unsigned i = 0; i < 2; i++)
		edit_output_deinit(&parts[i]);
	source_deinit(&s);
}

/* Sessions that begin where another one stops, and after a gap. */
static void make_sessions(struct source *s)
{
	source_init(s);
	put_start_of(s, 1000, "a", "box", 1, WALL);
	put_task(s, 10, "task", 1);
	put_event(s, FXT_EVENT_COUNTER, 1100, 10, "c", "count", 1);
	put_shed(s, 1200, "stacks", "a", false);
	put_complete(s, 1150, 1800, "calls", "f", NULL, 0);
	put_event(s, FXT_EVENT_INSTANT, 1500, 10, "c", "before", 0);
	put_stop_of(s, 1500, "a");
	put_start_of(s, 1500, "b", "box", 1, WALL);
	put_event(s, FXT_EVENT_INSTANT, 1500, 10, "c", "behind", 0);
	put_event(s, FXT_EVENT_COUNTER, 1900, 10, "c", "count", 1);
	put_stop_of(s, 2000, "b");
	put_start_of(s, 2200, "a", "box", 1, WALL);
	put_event(s, FXT_EVENT_INSTANT, 2300, 10, "c", "last", 0);
	put_stop_of(s, 2500, "a");
	/* (the other order) */
	put_start_of(s, 2600, "a", "box", 1, WALL);
	put_start_of(s, 2700, "b", "box", 1, WALL);
	put_stop_of(s, 2700, "a");
	put_event(s, FXT_EVENT_INSTANT, 2700, 10, "c", "one", 0);
	put_stop_of(s, 2900, "b");
}

/* A cut at the time of a session_start or session_stop: one part has it. */
TEST(test_parts_of_sessions)
{
	static const uint64_t places[] = { 1400, 1500, 1501, 1999, 2000, 2001, 2100, 2199, 2200,
					   2201, 2500, 2550, 2600, 2601, 2700, 2701, 2899 };
	struct source s;

	make_sessions(&s);
	for (unsigned i = 0; i < ARRAY_SIZE(places); i++) {
		assert_whole(&s.bytes, &places[i], 1);
		if (i + 2 < ARRAY_SIZE(places))
			assert_whole(&s.bytes, &places[i], 3);
	}
	source_deinit(&s);
}

/* The state of a part can have something that the damaged part before it has lost. */
TEST(test_parts_damaged)
{
	struct edit_merge_view views[2];
	struct edit_cut_counts counts;
	struct edit_output parts[2];
	struct source s;

	make_small(&s, "f", 1000);
	for (unsigned damaged = 0; damaged <= 1; damaged++) {
		_cleanup_free_ char *merged = NULL;

		cut_at_200(&s.bytes, 0, &parts[0], &counts);
		cut_at_200(&s.bytes, 1, &parts[1], &counts);
		if (damaged)
			memset(parts[0].bytes.data + parts[0].bytes.size / 16 * 8, 0, 64);
		merged = merge_parts(parts, views);
		assert_int_equal(count_lines(merged, "kymo: 200 counter"), damaged);
		assert_int_equal(count_lines(merged, "session_start"), 1 + damaged);
		assert_int_equal(count_lines(merged, "session_stop"), 1 + damaged);
		assert_line(merged, "kymo: 115 complete calls/f 10/10 ..210");
		assert_int_equal(count_lines(merged, "calls/f"), 1);
	}
	source_deinit(&s);
}

/* Wherever one of two parts is damaged, what the other one has is there. */
TEST(test_parts_damaged_anywhere)
{
	struct edit_output parts[2];
	struct edit_cut_counts counts;
	struct source s;

	make_small(&s, "f", 0);
	for (unsigned i = 0; i < 2; i++)
		cut_at_200(&s.bytes, i, &parts[i], &counts);
	for (unsigned i = 0; i < 2; i++) {
		struct outbuf *bytes = &parts[i].bytes;
		const struct outbuf *list[] = { &parts[0].bytes, &parts[1].bytes };

		/* (not the magic number) */
		for (size_t at = 8; at + 16 <= bytes->size; at += 40) {
			_cleanup_free_ char *merged = NULL;
			uint64_t was[2];

			memcpy(was, bytes->data + at, sizeof(was));
			memset(bytes->data + at, 0, sizeof(was));
			merged = merge_text(list, 2, NULL);
			memcpy(bytes->data + at, was, sizeof(was));
			if (count_lines(merged, "calls/f") == 0 ||
			    count_lines(merged, " counter ") == 0 ||
			    count_lines(merged, "'task'") == 0)
				fail_msg("part %u, damaged at %zu:\n%s", i, at, merged);
		}
	}
	for (unsigned i = 0; i < 2; i++)
		edit_output_deinit(&parts[i]);
	source_deinit(&s);
}

/* A state, and an end, that are larger than the window of a merge. A thread runs on. */
static void make_large(struct source *s)
{
	enum { N = 300 };

	source_init(s);
	put_start_of(s, 100, "s", "box", 1, WALL);
	put_task(s, 10, "task", 1);
	put_switch(s, 110, 0, 0, 10, FXT_STATE_RUNNING);
	for (unsigned i = 0; i < N; i++)
		put_event(s, FXT_EVENT_COUNTER, 120, 10, "c", "count", 1 + i);
	put_event(s, FXT_EVENT_INSTANT, 220, 10, "c", "last", 0);
	for (unsigned i = 0; i < N; i++)
		put_task(s, 1000 + i, "later", 1);
	put_switch(s, 230, 0, 10, 0, FXT_STATE_RUNNING);
	put_stop_of(s, 300, "s");
}

/*
 * The state and the end are left out both, or neither: what decides it can be behind the window,
 * when the first ones of their records are to be written.
 */
TEST(test_parts_larger_than_window)
{
	enum { WINDOW = 4096 };
	enum { WHOLE, OTHER_FIRST, STATE_DAMAGED, END_DAMAGED, TOO_LARGE, WAYS };
	struct edit_cut_counts counts;
	struct source s, other;

	make_large(&s);
	source_init(&other);
	put_start_of(&other, 100, "s", "other box", 1, WALL);
	put_stop_of(&other, 300, "s");
	for (unsigned way = 0; way < WAYS; way++) {
		const struct edit_merge_options options = { .window = WINDOW,
							    .between = way == TOO_LARGE ? 2 * WINDOW
											: 0 };
		_cleanup_free_ char *text = NULL, *second = NULL;
		struct edit_output parts[2], merged;
		struct edit_merge_view views[3];
		bool joint = way == WHOLE || way == OTHER_FIRST;
		/* (its machine has no part) */
		unsigned others = way == OTHER_FIRST;

		for (unsigned i = 0; i < 2; i++)
			cut_at_200(&s.bytes, i, &parts[i], &counts);
		if (way == STATE_DAMAGED)
			memset(parts[1].bytes.data + parts[1].bytes.size / 32 * 8, 0, 64);
		if (way == END_DAMAGED)
			memset(parts[0].bytes.data + parts[0].bytes.size - 512, 0, 64);
		second = edited_text(&parts[1].bytes);
		assert_true(parts[0].bytes.size > 2 * WINDOW && parts[1].bytes.size > 4 * WINDOW);
		assert_in_range(count_lines(second, "kymo: 200 counter"), 200, 300);
		merge_with((const struct outbuf *[]){ &other.bytes, &parts[0].bytes,
						      &parts[1].bytes } +
				   1 - others,
			   2 + others, &options, views, &merged);
		assert_int_equal(views[1 + others].too_large, way == TOO_LARGE);
		text = edited_text(&merged.bytes);
		assert_int_equal(count_lines(text, "session_start"), others + (joint ? 1 : 2));
		assert_int_equal(count_lines(text, "session_stop"), others + (joint ? 1 : 2));
		assert_int_equal(count_lines(text, "kymo: 200 cpu0 10>0"), joint ? 0 : 1);
		assert_int_equal(count_lines(text, "kymo: 200 cpu0 0>10"), joint ? 0 : 1);
		assert_int_equal(count_lines(text, "kymo: 200 counter"),
				 joint ? 0 : count_lines(second, "kymo: 200 counter"));
		edit_output_deinit(&merged);
		for (unsigned i = 0; i < 2; i++)
			edit_output_deinit(&parts[i]);
	}
	source_deinit(&other);
	source_deinit(&s);
}

static int find_nothing(void *userdata, const struct profile_place *place, const struct frame **ret)
{
	return 0;
}

/* Archives without a head that need more than ROOM: a program's own, or of kymo. */
static void make_headless(struct source *s, bool is_app, size_t room)
{
	source_init(s);
	if (is_app)
		as_app(s);
	while (s->bytes.size < 2 * room)
		put_event(s, FXT_EVENT_INSTANT, 100, 10, "c", "n", 0);
}

/*
 * An edited part has no mark behind its state. Its machine is known nevertheless, if there is room
 * to read so far. Archives before it that have no head do not take this room.
 */
TEST(test_parts_edited_larger_than_window)
{
	enum { SYMBOLIZED, REPAIRED, MERGED, MERGED_TOO_LARGE, EDITS, ROOM = 256 << 10 };
	static const struct profile_names names = { .find = find_nothing };
	struct source s, other, same, headless[2];
	struct edit_cut_counts counts;
	struct edit_output part;

	make_large(&s);
	source_init(&other);
	put_start_of(&other, 100, "s", "other box", 2, WALL);
	put_stop_of(&other, 300, "s");
	source_init(&same);
	put_start_of(&same, 250, "t", "box", 1, WALL);
	put_stop_of(&same, 300, "t");
	for (unsigned i = 0; i < 2; i++)
		make_headless(&headless[i], i == 0, ROOM);
	cut_at_200(&s.bytes, 1, &part, &counts);
	for (unsigned edit = 0; edit < EDITS; edit++) {
		bool known = edit != MERGED_TOO_LARGE;
		const struct edit_merge_options options = { .window = 4096,
							    .heads = known ? ROOM : 4096 };
		struct edit_merge_view views[4];
		struct edit_output edited, merged;

		if (edit == SYMBOLIZED)
			symbolize_bytes(&part.bytes, &names, &edited);
		else if (edit == REPAIRED)
			repair_bytes(&part.bytes, &edited, NULL);
		else
			merge_bytes((const struct outbuf *[]){ &part.bytes, &same.bytes }, 2, NULL,
				    &edited);
		merge_with((const struct outbuf *[]){ &other.bytes, &headless[0].bytes,
						      &headless[1].bytes, &edited.bytes },
			   4, &options, views, &merged);
		for (unsigned i = 1; i <= 2; i++)
			assert_true(views[i].clock_far && views[i].machine == 0);
		assert_int_equal(views[3].has_clock, known);
		assert_int_equal(views[3].clock_far, !known);
		assert_int_equal(views[3].machine, known ? 1 : 0);
		assert_int_equal(views[3].shift_cpu, known ? 2 : 0);
		edit_output_deinit(&merged);
		edit_output_deinit(&edited);
	}
	edit_output_deinit(&part);
	for (unsigned i = 0; i < 2; i++)
		source_deinit(&headless[i]);
	source_deinit(&same);
	source_deinit(&other);
	source_deinit(&s);
}

/* The first half of an event stays if the next part does not have the event. */
TEST(test_parts_without_half)
{
	struct edit_merge_view views[2];
	struct edit_cut_counts counts;
	struct edit_output parts[2];
	struct source one, other;
	char *merged;

	make_small(&one, "f", 0);
	make_small(&other, "g", 0);
	cut_at_200(&one.bytes, 0, &parts[0], &counts);
	cut_at_200(&other.bytes, 1, &parts[1], &counts);
	merged = merge_parts(parts, views);
	assert_int_equal(count_lines(merged, "session_start"), 1);
	assert_line(merged, "kymo: 115 complete calls/f 10/10 ..200 ends at:uint64=210 "
			    "left by:string=open");
	assert_line(merged, "kymo: 115 complete calls/g 10/10 ..210");
	assert_int_equal(views[0].halves, 1);
	free(merged);
	source_deinit(&one);
	source_deinit(&other);
}

/*
 * A cut that lacks events across its start says so. It fits neither the part before it, which has
 * their first halves, nor the part after it.
 */
TEST(test_parts_without_room)
{
	enum { N = 100, ROOM = 64, PARTS = 3 };
	static const uint64_t ends[PARTS + 1] = { 0, 200, 230, UINT64_MAX };
	struct edit_merge_view views[PARTS];
	struct edit_cut_counts counts;
	struct edit_output parts[PARTS];
	const struct outbuf *list[PARTS];
	struct source s;

	source_init(&s);
	put_start_of(&s, 100, "s", "box", 1, WALL);
	put_task(&s, 10, "task", 1);
	put_event(&s, FXT_EVENT_COUNTER, 110, 10, "c", "count", 1);
	for (unsigned i = 0; i < N; i++)
		put_complete(&s, 115, 210, "calls", "f", NULL, 0);
	put_complete(&s, 220, 240, "calls", "g", NULL, 0);
	put_stop_of(&s, 300, "s");
	for (unsigned short_of = 0; short_of <= 1; short_of++) {
		_cleanup_free_ char *merged = NULL;

		for (unsigned i = 0; i < PARTS; i++) {
			const struct edit_cut_options options = { .from_ns = ends[i],
								  .to_ns = ends[i + 1],
								  .absolute = true,
								  .across_max =
									  short_of ? ROOM : 0 };

			cut_bytes(&s.bytes, &options, &parts[i], &counts);
			assert_int_equal(counts.no_room_across, i == 1 && short_of ? N - ROOM : 0);
			list[i] = &parts[i].bytes;
		}
		merged = merge_text(list, PARTS, views);
		assert_int_equal(count_lines(merged, "calls/f"), short_of ? N + ROOM : N);
		assert_int_equal(count_lines(merged, "calls/g"), 1 + short_of);
		assert_int_equal(count_lines(merged, "kymo: 200 counter"), short_of);
		assert_int_equal(count_lines(merged, "kymo: 230 counter"), short_of);
		assert_int_equal(count_lines(merged, "session_start"), short_of ? PARTS : 1);
		for (unsigned i = 0; i < PARTS; i++) {
			if (short_of)
				assert_int_equal(views[i].repeated, 0);
			edit_output_deinit(&parts[i]);
		}
	}
	source_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_anywhere),
		cmocka_unit_test(test_parts_without_time),
		cmocka_unit_test(test_parts_late_events),
		cmocka_unit_test(test_parts_cut_off),
		cmocka_unit_test(test_parts_cut_off_in_state),
		cmocka_unit_test(test_parts_of_sessions),
		cmocka_unit_test(test_parts_damaged),
		cmocka_unit_test(test_parts_damaged_anywhere),
		cmocka_unit_test(test_parts_larger_than_window),
		cmocka_unit_test(test_parts_edited_larger_than_window),
		cmocka_unit_test(test_parts_without_half),
		cmocka_unit_test(test_parts_without_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
