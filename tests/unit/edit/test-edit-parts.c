/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An archive that was cut into parts, at any places, and merged again has each record once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/unit.h"

enum { WALL = 1700000000, BEGIN = 1000, END = 3000, THREADS = 8, CPUS = 2, PARTS_MAX = 4 };

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

static void put_complete(struct source *s, uint64_t from, uint64_t to, const char *category,
			 const char *name, const struct fxt_out_arg *args, unsigned n_args)
{
	OK(fxt_write_event(&s->w, &(struct fxt_event){ .type = FXT_EVENT_DURATION_COMPLETE,
						       .category = fxt_interned(category),
						       .name = fxt_interned(name),
						       .ts_ticks = from,
						       .thread = { 10, 10 },
						       .id = to,
						       .args = args,
						       .n_args = n_args }));
}

static void put_backtrace(struct source *s, uint64_t ts, uint64_t tid)
{
	static const uint64_t frames[] = { 0x1000, 0x2000 };

	OK(fxt_write_backtrace(&s->w, &(struct fxt_backtrace){ .ts_ticks = ts,
							       .thread = { tid, tid },
							       .frames = frames,
							       .n_frames = 2 }));
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

/* ---- comparison ---- */

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The sorted lines of TEXT, which is changed, without those that a cut or merge replaces. */
static char **lines_of(char *text, size_t *ret_n)
{
	size_t room = 0, n = 0;
	char **lines = NULL;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (strstr(line, "kymo/session_stop") || strstr(line, "kymo/clock") ||
		    strstr(line, "kymo/part") || strncmp(line, "another provider", 16) == 0)
			continue;
		if (n == room) {
			room = 2 * room + 1024;
			lines = realloc(lines, room * sizeof(*lines));
			assert_non_null(lines);
		}
		lines[n++] = line;
	}
	qsort(lines, n, sizeof(*lines), compare_lines);
	*ret_n = n;
	return lines;
}

static void assert_same_lines(char *is, char *want, const char *where)
{
	size_t n_is, n_want;
	_cleanup_free_ char **a = lines_of(is, &n_is), **b = lines_of(want, &n_want);

	for (size_t i = 0; i < n_is || i < n_want; i++)
		if (i == n_is || i == n_want || strcmp(a[i], b[i]) != 0)
			fail_msg("cut at%s: '%s' instead of '%s'", where,
				 i < n_is ? a[i] : "nothing", i < n_want ? b[i] : "nothing");
}

/* Cuts ARCHIVE at the N times PLACES, merges the parts in another order, and compares. */
static void assert_whole(const struct outbuf *archive, const uint64_t *places, unsigned n)
{
	const struct outbuf *list[PARTS_MAX];
	struct edit_merge_view views[PARTS_MAX];
	struct edit_output parts[PARTS_MAX];
	struct edit_cut_counts counts;
	char where[128] = "";

	for (unsigned i = 0; i <= n; i++) {
		cut_bytes(archive,
			  &(struct edit_cut_options){ .from_ns = i == 0 ? 0 : places[i - 1],
						      .to_ns = i == n ? UINT64_MAX : places[i],
						      .absolute = true },
			  &parts[i], &counts);
		/* (any part can be the first one on the command line) */
		list[(i + places[0]) % (n + 1)] = &parts[i].bytes;
		if (i < n)
			snprintf(where + strlen(where), sizeof(where) - strlen(where), " %u",
				 (unsigned)places[i]);
	}
	{
		_cleanup_free_ char *merged = merge_text(list, n + 1, views);
		_cleanup_free_ char *original = edited_text(archive);

		assert_int_equal(count_lines(merged, "kymo/session_stop"),
				 count_lines(original, "kymo/session_stop"));
		assert_int_equal(count_lines(merged, "kymo/clock"), 2);
		assert_same_lines(merged, original, where);
	}
	for (unsigned i = 0; i <= n; i++)
		edit_output_deinit(&parts[i]);
}

static int compare_places(const void *a, const void *b)
{
	return *(const uint64_t *)a < *(const uint64_t *)b ? -1 : 1;
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
	put_stop_of(&s, BEGIN + N, "s");
	assert_whole(&s.bytes, places, ARRAY_SIZE(places));
	source_deinit(&s);
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

/* A counter, a call that crosses 200, and N events. CALL can be NULL. */
static void make_small(struct source *s, const char *call, unsigned n)
{
	source_init(s);
	put_start_of(s, 100, "s", "box", 1, WALL);
	put_task(s, 10, "task", 1);
	put_event(s, FXT_EVENT_COUNTER, 110, 10, "c", "count", 1);
	for (unsigned i = 0; i < n; i++)
		put_event(s, FXT_EVENT_INSTANT, 120, 10, "c", "n", 0);
	if (call)
		put_complete(s, 115, 210, "calls", call, NULL, 0);
	put_event(s, FXT_EVENT_INSTANT, 220, 10, "c", "last", 0);
	put_stop_of(s, 300, "s");
}

/* The part of ARCHIVE before (I = 0) or from 200 on. */
static void cut_at_200(const struct outbuf *archive, unsigned i, struct edit_output *ret,
		       struct edit_cut_counts *ret_counts)
{
	cut_bytes(archive,
		  &(struct edit_cut_options){
			  .from_ns = i ? 200 : 0, .to_ns = i ? UINT64_MAX : 200, .absolute = true },
		  ret, ret_counts);
}

/* Merges two PARTS, which are then released. */
static char *merge_parts(struct edit_output parts[static 2], struct edit_merge_view views[static 2])
{
	const struct outbuf *list[] = { &parts[0].bytes, &parts[1].bytes };
	char *merged = merge_text(list, 2, views);

	edit_output_deinit(&parts[0]);
	edit_output_deinit(&parts[1]);
	return merged;
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

/* A cut that lacks events across its start says so, and fits no part before it. */
LARGE_TEST(test_parts_without_room)
{
	enum { N = 100, ROOM = 64 };
	struct edit_merge_view views[2];
	struct edit_cut_counts counts;
	struct edit_output parts[2];
	struct source s;
	char *merged;

	source_init(&s);
	put_start_of(&s, 100, "s", "box", 1, WALL);
	for (unsigned i = 0; i < N; i++)
		put_complete(&s, 115, 210, "calls", "f", NULL, 0);
	put_event(&s, FXT_EVENT_INSTANT, 220, 10, "c", "last", 0);
	put_stop_of(&s, 300, "s");
	cut_at_200(&s.bytes, 0, &parts[0], &counts);
	assert_int_equal(counts.no_room_across, 0);
	cut_bytes(
		&s.bytes,
		&(struct edit_cut_options){
			.from_ns = 200, .to_ns = UINT64_MAX, .absolute = true, .across_max = ROOM },
		&parts[1], &counts);
	assert_int_equal(counts.no_room_across, N - ROOM);
	merged = merge_parts(parts, views);
	assert_int_equal(count_lines(merged, "calls/f"), N + ROOM);
	assert_int_equal(views[0].repeated + views[1].repeated, 0);
	free(merged);
	source_deinit(&s);
}

/* Asserts that the part of FIRST before 200 and that of NEXT from then on do not become one. */
static void assert_foreign(const struct outbuf *first, const struct outbuf *next)
{
	struct edit_merge_view views[2];
	struct edit_cut_counts counts;
	struct edit_output parts[2];
	char *merged;

	cut_at_200(first, 0, &parts[0], &counts);
	cut_at_200(next, 1, &parts[1], &counts);
	merged = merge_parts(parts, views);
	assert_int_equal(count_lines(merged, "kymo: 200 counter"), 1);
	assert_int_equal(views[0].repeated + views[1].repeated, 0);
	free(merged);
}

/* Parts of an edited archive fit one another, but not parts of the original one. */
TEST(test_parts_of_edited)
{
	static const uint64_t place = 200;
	const uint32_t pid = 10;
	struct edit_output selected, merged, whole;
	struct edit_cut_counts counts;
	struct source s, other;

	make_small(&s, "f", 10);
	source_init(&other);
	put_start_of(&other, 150, "other", "box", 1, WALL);
	put_event(&other, FXT_EVENT_INSTANT, 160, 10, "d", "other", 0);
	put_stop_of(&other, 250, "other");
	cut_bytes(&s.bytes,
		  &(struct edit_cut_options){ .to_ns = UINT64_MAX, .pids = &pid, .n_pids = 1 },
		  &selected, &counts);
	merge_bytes((const struct outbuf *[]){ &s.bytes, &other.bytes }, 2, NULL, &merged);
	/* (also in a copy of the whole) */
	cut_bytes(&merged.bytes, &(struct edit_cut_options){ .to_ns = UINT64_MAX }, &whole,
		  &counts);
	assert_foreign(&selected.bytes, &s.bytes);
	assert_foreign(&s.bytes, &selected.bytes);
	assert_foreign(&merged.bytes, &s.bytes);
	assert_foreign(&s.bytes, &merged.bytes);
	assert_foreign(&s.bytes, &whole.bytes);
	assert_foreign(&merged.bytes, &whole.bytes);
	assert_whole(&selected.bytes, &place, 1);
	assert_whole(&merged.bytes, &place, 1);
	assert_whole(&whole.bytes, &place, 1);
	edit_output_deinit(&selected);
	edit_output_deinit(&merged);
	edit_output_deinit(&whole);
	source_deinit(&other);
	source_deinit(&s);
}

static void get_part_id(const struct outbuf *archive, char to[32])
{
	_cleanup_free_ char *text = edited_text(archive);
	const char *at = strstr(text, "kymo/part");

	assert_non_null(at);
	at = strstr(at, " id:uint64=");
	assert_non_null(at);
	assert_int_equal(sscanf(at, " id:uint64=%31s", to), 1);
}

/* Parts that were edited are none any more. A redacted one does not show its id. */
TEST(test_parts_edited)
{
	const struct edit_redact_options options = { .key = "0123456789abcdef", .key_size = 16 };
	struct edit_output parts[2], redacted[2];
	struct edit_merge_view views[2];
	struct edit_cut_counts counts;
	char id[32], redacted_id[32];
	struct source s;
	char *merged;

	make_small(&s, "f", 10);
	for (unsigned i = 0; i < 2; i++) {
		struct edit_repair_counts repaired_counts;
		char *repaired;

		cut_at_200(&s.bytes, i, &parts[i], &counts);
		repaired = repair_text(&parts[i].bytes, &repaired_counts);
		assert_int_equal(count_lines(repaired, "kymo/part"), 1);
		assert_int_equal(count_lines(repaired, "class:string=edited"), 1);
		free(repaired);
		redact_bytes(&parts[i].bytes, &options, &redacted[i]);
		get_part_id(&parts[i].bytes, id);
		get_part_id(&redacted[i].bytes, redacted_id);
		assert_string_not_equal(id, redacted_id);
		edit_output_deinit(&parts[i]);
	}
	merged = merge_parts(redacted, views);
	assert_int_equal(count_lines(merged, "session_start"), 2);
	assert_int_equal(views[0].repeated + views[1].repeated, 0);
	free(merged);
	source_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_anywhere),
		cmocka_unit_test(test_parts_late_events),
		cmocka_unit_test(test_parts_cut_off),
		cmocka_unit_test(test_parts_of_sessions),
		cmocka_unit_test(test_parts_damaged),
		cmocka_unit_test(test_parts_damaged_anywhere),
		cmocka_unit_test(test_parts_without_half),
		cmocka_unit_test(test_parts_without_room),
		cmocka_unit_test(test_parts_of_edited),
		cmocka_unit_test(test_parts_edited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
