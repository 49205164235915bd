/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the worker's and the rings' records of allocations into an archive, and compares the
 * archive's events.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/heap/heap-records.h"
#include "capture/proc/proc-records.h"
#include "capture/stages/allocations.h"
#include "capture/stages/lifecycle.h"
#include "tests/support/fakes/fake-collector.h"
#include "tests/support/fixtures/archive-text.h"
#include "tests/support/fixtures/heap-event-text.h"
#include "tests/support/unit.h"

enum { SECOND_NS = 1000000000, FROM = 100, TO = 1000, PID = 500 };

struct fixture {
	struct outbuf out;
	struct fxt_archive archive;
	struct tasks tasks;
	struct lifecycle lifecycle;
	struct pipeline pipe;
	struct allocations a;
	char needed[256]; /* processes whose mappings were requested, with times */
	char said[8192];
};

static int announce(uint32_t tid, void *userdata)
{
	struct fixture *f = userdata;

	return lifecycle_announce(&f->lifecycle, tid);
}

static bool ask(uint32_t tid, void *userdata)
{
	(void)tid;
	(void)userdata;
	return true;
}

static void check_files(uint32_t pid, uint64_t ts_ns, void *userdata)
{
	(void)pid;
	(void)ts_ns;
	(void)userdata;
}

/* Whether files can be examined, and how many were requested. */
static bool can_examine;
static unsigned n_examined;

static bool examine(const struct rec_mapping *rec, void *userdata)
{
	(void)rec;
	(void)userdata;
	n_examined++;
	return can_examine;
}

static int need_mappings(uint32_t pid, uint64_t ts_ns, void *userdata)
{
	struct fixture *f = userdata;
	size_t n = strlen(f->needed);

	snprintf(f->needed + n, sizeof(f->needed) - n, "%u@%" PRIu64 " ", pid, ts_ns);
	return 0;
}

FIXTURE(set_up)
{
	const struct session_options options = {
		.categories = CATEGORY_MEMORY | CATEGORY_SHM,
		.memory = { .interval = 4096, .min_bytes = 8 },
	};
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(tasks_init(&f->tasks), 0);
	assert_int_equal(fxt_archive_init(&f->archive, &f->out, 2), 0);
	f->pipe = (struct pipeline){
		.archive = &f->archive,
		.tasks = &f->tasks,
		.categories = options.categories,
		.from_ns = FROM,
		.to_ns = TO,
		.links = { .announce = announce, .need_mappings = need_mappings, .userdata = f },
		.owner = { .ask = ask, .check_files = check_files, .examine = examine }
	};
	f->lifecycle = (struct lifecycle){ .pipe = &f->pipe };
	allocations_init(&f->a, &f->pipe);
	allocations_begin(&f->a, &options);
	assert_int_equal(fxt_archive_begin(&f->archive), 0);
	*state = f;
	return 0;
}

FIXTURE(tear_down)
{
	struct fixture *f = *state;

	allocations_deinit(&f->a);
	fxt_archive_deinit(&f->archive);
	tasks_deinit(&f->tasks);
	outbuf_deinit(&f->out);
	free(f);
	return 0;
}

/* ---- records ---- */

#define HEAD(type, kind, ts)                                                                       \
	{                                                                                          \
		ts, sizeof(struct type), kind, 1, PID, PID + 1                                     \
	}

static void put(struct fixture *f, const void *rec)
{
	assert_int_equal(allocations_record(&f->a, rec), 0);
}

static void advance(struct fixture *f, uint64_t horizon_ns)
{
	assert_int_equal(allocations_stage.advance(&f->a, horizon_ns), 0);
}

static void put_watch(struct fixture *f, uint64_t ts_ns, uint32_t instance)
{
	const struct rec_watch rec = {
		.head = HEAD(rec_watch, REC_WATCH, ts_ns),
		.instance = instance,
		.complete = instance == 2,
		.allocators = "libc: malloc",
	};

	put(f, &rec);
}

static void put_named(struct fixture *f, uint64_t ts_ns, uint32_t instance, uint64_t id)
{
	const struct rec_named rec = {
		.head = HEAD(rec_named, REC_NAMED, ts_ns),
		.id = id,
		.instance = instance,
		.n_frames = 2,
		.frames = { 0x1000 + id, 0x2000 },
	};

	put(f, &rec);
}

/* The first frame of a copied stack, from the table. */
static void put_copied(struct fixture *f, uint64_t ts_ns, uint32_t instance, uint64_t id)
{
	const struct rec_named rec = {
		.head = HEAD(rec_named, REC_NAMED, ts_ns),
		.id = id,
		.instance = instance,
		.n_frames = 1,
		.is_copied = 1,
		.frames = { 0x1000 + id },
	};

	put(f, &rec);
}

/* A copied stack of 3 frames; SP can be FAKE_NO_TABLE. */
static struct rec_piece piece(uint64_t ts_ns, uint32_t instance, uint64_t id, uint64_t sp)
{
	return (struct rec_piece){
		.head = HEAD(rec_piece, REC_HEAP_PIECE, ts_ns),
		.id = id,
		.sp = sp,
		.instance = instance,
		.n_frames = 3,
		.frames = { 0x1000 + id, 0x2000, 0x3000 },
	};
}

static void put_piece(struct fixture *f, uint64_t ts_ns, uint32_t instance, uint64_t id,
		      uint64_t sp)
{
	const struct rec_piece rec = piece(ts_ns, instance, id, sp);

	put(f, &rec);
}

static void put_usage(struct fixture *f, uint64_t ts_ns, uint64_t allocations, uint64_t frees)
{
	const struct rec_usage rec = {
		.head = HEAD(rec_usage, REC_USAGE, ts_ns),
		.stack = 7,
		.allocations = allocations,
		.allocated_bytes = 10 * allocations,
		.frees = frees,
		.freed_bytes = 10 * frees,
		.instance = 1,
		.resource = MEMORY_RESOURCE_MEMORY,
	};

	put(f, &rec);
}

static void put_alloc(struct fixture *f, uint64_t ts_ns, uint32_t instance)
{
	const struct rec_alloc rec = {
		.head = HEAD(rec_alloc, REC_ALLOC, ts_ns),
		.id = 0xabc,
		.size = 64,
		.stack = 7,
		.resource = MEMORY_RESOURCE_MEMORY,
		.function = MEMORY_FN_CALLOC,
		.instance = instance,
	};

	put(f, &rec);
}

static void put_free(struct fixture *f, uint64_t ts_ns, uint32_t instance)
{
	const struct rec_free rec = {
		.head = HEAD(rec_free, REC_FREE, ts_ns),
		.id = 0xabc,
		.function = MEMORY_FN_FREE,
		.instance = instance,
	};

	put(f, &rec);
}

static void put_snapshot(struct fixture *f, uint64_t ts_ns, uint64_t n)
{
	const struct rec_snapshot rec = {
		.head = HEAD(rec_snapshot, REC_SNAPSHOT, ts_ns),
		.blocks = n,
		.instance = 1,
		.final = n == 1,
	};

	put(f, &rec);
}

static void put_block(struct fixture *f, uint64_t ts_ns)
{
	union {
		struct rec_block rec;
		uint8_t bytes[sizeof(struct rec_block) + 8];
	} all = {
		.rec = {
			.head = { ts_ns, sizeof(all), REC_BLOCK, 0, PID, PID },
			.id = 0xdef,
			.block = { 48, 300, 7, PID + 2, 3, MEMORY_FN_NEW, 1 },
			.instance = 1,
			.reach = REACH_LOST,
			.text_bytes = 4,
		},
	};

	memcpy(all.rec.text,
	       "\xff"
	       "fd3",
	       4); /* a path can contain any bytes */
	put(f, &all);
}

static void put_watched(struct fixture *f, uint64_t ts_ns, uint32_t instance, uint32_t reason)
{
	const struct rec_watched rec = {
		.head = HEAD(rec_watched, REC_WATCHED, ts_ns),
		.instance = instance,
		.reason = reason,
		.unmatched = 1,
		.failed = 2,
		.lost = 3,
		.full = 4,
		.no_stack = 5,
		.gap = reason == WATCHED_EXIT ? WATCHED_GAP_THREAD : WATCHED_GAP_NONE,
		.unsearched = reason == WATCHED_EXIT ? WATCHED_UNSEARCHED_SECRET
						     : WATCHED_UNSEARCHED_NONE,
		.searched = reason == WATCHED_EXIT,
	};

	put(f, &rec);
}

/* A mapping of the file PATH. */
static void put_mapping(struct fixture *f, uint64_t ts_ns, const char *path)
{
	struct {
		struct rec_mapping rec;
		char room[32];
	} all = { .rec = { .head = HEAD(rec_mapping, REC_MAPPING, ts_ns), .inode = 7 } };

	all.rec.head.size = sizeof(all);
	all.rec.path_bytes = (uint32_t)strlen(path);
	assert_true(strlen(path) < sizeof(all.room));
	memcpy(all.room, path, strlen(path) + 1);
	assert_int_equal(allocations_stage.record(&f->a, &all.rec.head), 0);
}

/* The end of instance 1, whose files were examined at EXAMINED_NS. */
static void put_end(struct fixture *f, uint64_t ts_ns, uint32_t reason, uint64_t examined_ns)
{
	const struct rec_watched rec = {
		.head = HEAD(rec_watched, REC_WATCHED, ts_ns),
		.instance = 1,
		.reason = reason,
		.examined_ns = examined_ns,
	};

	put(f, &rec);
}

/* ---- the contents of the archive ---- */

static void add_said(const struct event *ev, void *userdata)
{
	struct fixture *f = userdata;
	size_t n = strlen(f->said);

	heap_event_text(ev, f->said + n, sizeof(f->said) - n);
}

static const char *said(struct fixture *f)
{
	f->said[0] = '\0';
	archive_events(&f->out, add_said, f);
	return f->said;
}

#define WATCH_1 "watch 110 500 memory,mapping,segment,attachment,shm|libc: malloc|0 4096 8;"

/* ---- tests ---- */

TEST(test_life)
{
	struct fixture *f = *state;

	put_watch(f, 110, 1);
	put_watch(f, 111, 1); /* known already */
	put_named(f, 200, 1, 7);
	put_usage(f, 200, 5, 2);
	put_named(f, 300, 1, 7); /* of another resource: already written */
	put_usage(f, 300, 5, 6); /* frees were ahead */
	put_snapshot(f, 400, 0);
	put_snapshot(f, TO + 50, 1); /* after the end: written at the end */
	put_block(f, TO + 50);
	put_watched(f, TO + 50, 1, WATCHED_STOP);
	put_usage(f, 900, 9, 9); /* of no process any more */
	assert_string_equal(said(f), WATCH_1
			    "stack 200 7 1007+2;usage 200 7 3/30 5/50;usage 300 7 0/0 5/50;"
			    "snapshot 400 0 #1 0;snapshot 1000 1 #2 1;"
			    "block 1000 def 48 since 300 by 502 in 3 operator new lost \xef\xbf\xbd"
			    "fd3;"
			    "watched 1000 stop 1 2 3 4 5;");
	assert_string_equal(f->needed, "500@110 500@200 ");
	assert_int_equal(f->a.n_events, 8);
}

/* Two programs of a process: their records are separate. */
TEST(test_exec)
{
	struct fixture *f = *state;

	put_watch(f, 110, 1);
	put_named(f, 120, 1, 7);
	put_watched(f, 130, 1, WATCHED_EXEC);
	put_watch(f, 131, 2);
	put_named(f, 140, 2, 7);
	put_watched(f, 150, 2, WATCHED_EXIT);
	put_watched(f, 160, 3, WATCHED_EXIT); /* of no process */
	put_watched(f, 160, 2, 77);
	assert_string_equal(
		said(f),
		WATCH_1 "stack 120 7 1007+2;watched 130 exec 1 2 3 4 5;"
			"watch 131 500 memory,mapping,segment,attachment,shm|libc: malloc|1 4096 8;"
			"stack 140 7 1007+2;watched 150 exit 1 2 3 4 5 gap unsearched searched;");
}

/* Records from the rings that come before the record that their program is watched. */
TEST(test_waits)
{
	struct fixture *f = *state;

	put_alloc(f, 99, 1); /* before the recording */
	put_named(f, 110, 1, 7);
	put_alloc(f, 110, 1);
	put_alloc(f, 115, 2);
	put_free(f, 120, 1);
	put_free(f, TO + 1, 1); /* after it */
	assert_string_equal(said(f), "");
	put_watch(f, 110, 1);
	assert_string_equal(said(f), WATCH_1 "stack 110 7 1007+2;alloc 110 501 abc 64 calloc;"
					     "free 120 501 abc free;");
	put_free(f, 130, 1);
	assert_non_null(strstr(said(f), "free 130 501 abc free;"));
	assert_null(strstr(f->said, "115"));
	assert_int_equal(f->a.n_dropped, 0);
}

/* Records of programs that are never watched are kept only up to a limit. */
TEST(test_waits_bounded)
{
	struct fixture *f = *state;
	size_t n = (64 << 20) / sizeof(struct rec_alloc);

	for (size_t i = 0; i < n; i++)
		put_alloc(f, 200, 9);
	assert_int_equal(f->a.n_dropped, n / 2);
	assert_true(f->a.waiting.size <= 32 << 20);
	assert_string_equal(said(f), "");
}

TEST(test_watches)
{
	struct fixture *f = *state;

	assert_false(allocations_watches(&f->a, PID));
	put_watch(f, 110, 1);
	assert_true(allocations_watches(&f->a, PID));
	assert_false(allocations_watches(&f->a, PID + 1));
	/* Between two programs, too. */
	put_watched(f, 130, 1, WATCHED_EXEC);
	assert_true(allocations_watches(&f->a, PID));
	allocations_ended(&f->a, PID);
	assert_false(allocations_watches(&f->a, PID));
	allocations_ended(&f->a, PID);
}

/*
 * The copied stacks of allocations get their callers before they are written. If a table is
 * missing, this is when the worker reports them.
 */
TEST(test_copies)
{
	struct fixture *f = *state;
	struct rec_piece skipped = piece(150, 1, 9, 0);

	put_piece(f, 105, 1, 6, 0);
	put_piece(f, 105, 1, 7, FAKE_NO_TABLE);
	put_watch(f, 110, 1);
	put_piece(f, 120, 1, 8, FAKE_NO_TABLE);
	assert_int_equal(f->a.copies.bytes, 2 * sizeof(struct rec_piece));
	skipped.is_skipped = 1;
	put(f, &skipped);
	skipped.id = 10;
	skipped.n_frames = 1;
	put(f, &skipped);
	assert_string_equal(said(f),
			    WATCH_1 "stack 105 6 1006+3;stack 150 9 2000+2;stack 150 10 1009+1;");
	for (uint64_t id = 6; id <= 11; id++)
		put_named(f, 200, 1, id);
	assert_string_equal(said(f) + strlen(WATCH_1),
			    "stack 105 6 1006+3;stack 150 9 2000+2;stack 150 10 1009+1;"
			    "stack 200 7 1007+3;stack 200 8 1008+3;stack 200 11 100b+2;");
	assert_int_equal(f->a.copies.bytes, 0);
}

/*
 * The worker can report a stack, with its sums, before its copy arrives: it is then written with
 * its callers. The end of the program waits for it, too, but not for long: then the known frames
 * are written.
 */
TEST(test_copies_late)
{
	struct fixture *f = *state;
	uint64_t n_taken;

	put_watch(f, 110, 1);
	put_copied(f, 120, 1, 7);
	put_usage(f, 120, 3, 1);
	put_copied(f, 120, 1, 8);
	put_copied(f, 120, 1, 9);
	put_named(f, 120, 1, 10);
	assert_string_equal(said(f) + strlen(WATCH_1), "stack 120 10 100a+2;");
	put_copied(f, 125, 1, 7);
	put_piece(f, 121, 1, 7, 0);
	put_piece(f, 122, 1, 8, FAKE_NO_TABLE);
	put_piece(f, 123, 1, 8, 0);
	/* (many can arrive at once, so the sums are written later, in their order) */
	put_usage(f, 125, 3, 2);
	assert_string_equal(said(f) + strlen(WATCH_1),
			    "stack 120 10 100a+2;stack 121 7 1007+3;stack 123 8 1008+3;");
	advance(f, 200);
	assert_string_equal(said(f) + strlen(WATCH_1),
			    "stack 120 10 100a+2;stack 121 7 1007+3;stack 123 8 1008+3;"
			    "usage 120 7 2/20 3/30;usage 125 7 1/10 3/30;");
	put_usage(f, 130, 4, 1);
	put_copied(f, 130, 1, 11);
	put_watched(f, 150, 1, WATCHED_EXIT);
	assert_null(strstr(said(f), "watched"));
	advance(f, 200);
	put_piece(f, 140, 1, 11, 0);
	assert_non_null(strstr(said(f), "usage 130 7 3/30 4/40;stack 140 11 100b+3;"));
	advance(f, 200 + SECOND_NS - 1);
	assert_null(strstr(said(f), "watched"));
	advance(f, 200 + SECOND_NS);
	assert_non_null(strstr(said(f), "stack 140 11 100b+3;stack 120 9 1009+1;watched 150 "));
	/* Nothing remains of data that arrives after that. */
	put_piece(f, 145, 1, 9, 0);
	n_taken = fake_collector_n_taken_pieces();
	put_piece(f, 145, 1, 12, FAKE_NO_TABLE);
	assert_int_equal(fake_collector_n_taken_pieces(), n_taken + 1);
	put_named(f, 145, 1, 13);
	assert_int_equal(f->a.n_dropped, 1);
	assert_int_equal(f->a.copies.bytes, 0);
	assert_int_equal(f->a.copies.awaited.n_used, 0);
	assert_int_equal(f->a.waiting.size, 0);
}

/* A copy that never arrives does not keep the stack of a running program, or its sums, for long. */
TEST(test_copies_lost)
{
	uint64_t n_taken = fake_collector_n_taken_pieces();
	struct fixture *f = *state;

	put_watch(f, 110, 1);
	put_copied(f, 120, 1, 7);
	put_usage(f, 120, 3, 1);
	advance(f, 200);
	put_copied(f, 130, 1, 7);
	advance(f, 200 + SECOND_NS);
	assert_string_equal(said(f) + strlen(WATCH_1), "stack 120 7 1007+1;usage 120 7 2/20 3/30;");
	assert_int_equal(f->a.copies.awaited.n_used, 0);
	/* It is of no use any more, but it is no longer in the ring. */
	put_piece(f, 121, 1, 7, FAKE_NO_TABLE);
	assert_int_equal(f->a.copies.bytes, 0);
	assert_int_equal(fake_collector_n_taken_pieces(), n_taken + 1);
	/* The next program, and the end of the recording, end all waits. */
	put_copied(f, 140, 1, 8);
	put_watched(f, 150, 1, WATCHED_EXEC);
	assert_null(strstr(said(f), "watched"));
	put_watch(f, 160, 2);
	assert_non_null(strstr(said(f), "stack 140 8 1008+1;watched 150 exec"));
	put_copied(f, 170, 2, 9);
	put_watched(f, 180, 2, WATCHED_STOP);
	assert_null(strstr(said(f), "stop"));
	assert_int_equal(allocations_stage.end(&f->a), 0);
	assert_non_null(strstr(said(f), "stack 170 9 1009+1;watched 180 stop"));
	assert_int_equal(f->a.waiting.size, 0);
}

/* The stack of another program, a stack without room in memory, and a program that has ended. */
TEST(test_copies_bounded)
{
	enum { N = HEAP_COPIES_BYTES_MAX / sizeof(struct rec_piece) };
	struct fixture *f = *state;
	char last[64];

	put_watch(f, 110, 1);
	put_watch(f, 110, 2);
	put_piece(f, 120, 2, 7, FAKE_NO_TABLE);
	put_named(f, 130, 1, 7);
	assert_non_null(strstr(said(f), "stack 130 7 1007+2;"));
	for (uint64_t id = 1000; id < 1000 + N; id++)
		put_piece(f, 140, 1, id, FAKE_NO_TABLE);
	assert_int_equal(f->a.copies.bytes, N * sizeof(struct rec_piece));
	snprintf(last, sizeof(last), "stack 140 %d %x+3;", 999 + N, 0x1000 + 999 + N);
	assert_non_null(strstr(said(f), last));
	put_watched(f, 150, 1, WATCHED_EXEC);
	assert_int_equal(f->a.copies.bytes, sizeof(struct rec_piece));
	put_named(f, 160, 2, 7);
	assert_non_null(strstr(said(f), "stack 160 7 1007+3;"));
	assert_int_equal(f->a.copies.bytes, 0);
}

/*
 * Data of any program that has ended is dropped, also if many others have ended since: nobody would
 * ever release it. That of a program that was never watched waits.
 */
TEST(test_ended)
{
	enum { FIRST = 3, LAST = 100000 };
	struct fixture *f = *state;

	for (uint32_t instance = FIRST; instance <= LAST; instance += 97) {
		put_watch(f, 110, instance);
		put_watched(f, 120, instance, WATCHED_EXEC);
	}
	for (uint32_t instance = FIRST; instance <= LAST; instance += 97) {
		put_piece(f, 130, instance, 7, FAKE_NO_TABLE);
		put_free(f, 130, instance);
	}
	assert_int_equal(f->a.copies.bytes, 0);
	assert_int_equal(f->a.waiting.size, 0);
	assert_int_equal(f->a.n_dropped, (LAST - FIRST) / 97 + 1);
	put_piece(f, 130, FIRST + 1, 7, FAKE_NO_TABLE);
	put_piece(f, 130, UINT32_MAX, 8, FAKE_NO_TABLE);
	put_free(f, 130, FIRST + 1);
	assert_int_equal(f->a.copies.bytes, 2 * sizeof(struct rec_piece));
	assert_int_equal(f->a.waiting.size, sizeof(struct rec_free));
}

/* In log mode, the next record can have the stack. */
TEST(test_copies_log)
{
	struct fixture *f = *state;

	f->a.log = true;
	put_watch(f, 110, 1);
	put_piece(f, 120, 1, 7, FAKE_NO_TABLE);
	put_alloc(f, 120, 1);
	assert_string_equal(said(f) + strlen(WATCH_1),
			    "stack 120 7 1007+3;alloc 120 501 abc 64 calloc;");
}

/* The file that a process has mapped last was examined, or its allocators are unknown. */
TEST(test_late_file)
{
	static const struct {
		const char *path;
		uint64_t examined_ns;
		uint32_t reason;
		bool gap;
	} rows[] = {
		{ "/lib/late.so", 150, WATCHED_EXIT, true },
		{ "/lib/late.so", 150, WATCHED_STOP, true },
		{ "/lib/late.so", 0, WATCHED_EXIT, true },
		{ "/lib/late.so", 200, WATCHED_EXIT, false },
		/* The exec has freed all blocks. */
		{ "/lib/late.so", 150, WATCHED_EXEC, false },
		/* These are not libraries. */
		{ "//anon", 150, WATCHED_EXIT, false },
		{ "[vdso]", 150, WATCHED_EXIT, false },
		{ "/memfd:code (deleted)", 150, WATCHED_EXIT, false },
	};
	struct fixture *f = *state;
	char want[64];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		tear_down(state);
		set_up(state);
		f = *state;
		put_watch(f, 110, 1);
		put_mapping(f, 180, rows[i].path);
		put_end(f, 300, rows[i].reason, rows[i].examined_ns);
		snprintf(want, sizeof(want), "watched 300 %s 0 0 0 0 0%s;",
			 rows[i].reason == WATCHED_EXIT   ? "exit"
			 : rows[i].reason == WATCHED_STOP ? "stop"
							  : "exec",
			 rows[i].gap ? " gap" : "");
		assert_string_equal(said(f) + strlen(WATCH_1), want);
	}
}

static void put_examined(struct fixture *f, bool is_harmless)
{
	struct late_file file = {
		.inode = 7,
		.mapped_ns = 180,
		.examined_ns = 310,
		.is_harmless = is_harmless,
	};
	const struct outbuf examined = { .data = (uint8_t *)&file, .size = sizeof(file) };

	watch_gap_examined(&f->a.files, &examined);
	advance(f, 400);
}

/* The end waits until the file is examined, at most until the archive ends. */
TEST(test_late_file_examined)
{
	static const struct {
		bool answers, is_harmless, gap;
	} rows[] = { { true, true, false }, { true, false, true }, { false, false, true } };
	struct fixture *f;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		tear_down(state);
		set_up(state);
		f = *state;
		can_examine = true;
		n_examined = 0;
		put_watch(f, 110, 1);
		put_mapping(f, 180, "/lib/late.so");
		put_end(f, 300, WATCHED_EXIT, 150);
		advance(f, 350);
		assert_string_equal(said(f) + strlen(WATCH_1), "");
		assert_true(allocations_await_files(&f->a));
		if (rows[i].answers)
			put_examined(f, rows[i].is_harmless);
		else
			assert_int_equal(allocations_stage.end(&f->a), 0);
		assert_false(allocations_await_files(&f->a));
		assert_string_equal(said(f) + strlen(WATCH_1),
				    rows[i].gap ? "watched 300 exit 0 0 0 0 0 gap;"
						: "watched 300 exit 0 0 0 0 0;");
		assert_int_equal(n_examined, 1);
	}
	can_examine = false;
}

/* The next program of the process waits for nothing. */
TEST(test_late_file_hurries)
{
	struct fixture *f = *state;

	can_examine = true;
	put_watch(f, 110, 1);
	put_mapping(f, 180, "/lib/late.so");
	put_end(f, 300, WATCHED_EXIT, 150);
	put_watch(f, 310, 2);
	assert_non_null(strstr(said(f), "watched 300 exit 0 0 0 0 0 gap;watch 310"));
	can_examine = false;
}

/* A later process can have the id by then. */
TEST(test_late_file_of_another)
{
	struct fixture *f = *state;

	put_watch(f, 110, 1);
	put_mapping(f, 400, "/lib/late.so");
	put_end(f, 300, WATCHED_EXIT, 150);
	assert_string_equal(said(f) + strlen(WATCH_1), "watched 300 exit 0 0 0 0 0;");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_life, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_exec, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_waits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_waits_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_watches, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_copies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_copies_late, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_copies_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_copies_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ended, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_copies_log, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_late_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_late_file_examined, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_late_file_hurries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_late_file_of_another, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
