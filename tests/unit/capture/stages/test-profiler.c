/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of stacks and mappings, as the merge returns them, and the resulting archive.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/stages/lifecycle.h"
#include "capture/stages/profiler.h"
#include "tests/support/fakes/fake-collector.h"
#include "tests/support/fixtures/archive-text.h"
#include "tests/support/unit.h"
#include "tests/support/valgrind.h"

enum { FROM = 100, PID = 500 };

struct fixture {
	struct outbuf out;
	struct fxt_archive archive;
	struct tasks tasks;
	struct lifecycle lifecycle;
	struct pipeline pipe;
	struct profiler p;
	char said[8192];
};

static int announce(uint32_t tid, void *userdata)
{
	struct fixture *f = userdata;

	return lifecycle_announce(&f->lifecycle, tid);
}

static int belongs(uint32_t tid, uint32_t pid, void *userdata)
{
	(void)tid;
	(void)pid;
	(void)userdata;
	return 0;
}

static bool ask(uint32_t tid, void *userdata)
{
	(void)tid;
	(void)userdata;
	return true;
}

FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(tasks_init(&f->tasks), 0);
	assert_int_equal(fxt_archive_init(&f->archive, &f->out, 2), 0);
	f->archive.no_perfetto_samples = true;
	f->pipe = (struct pipeline){
		.archive = &f->archive,
		.tasks = &f->tasks,
		.from_ns = FROM,
		.to_ns = UINT64_MAX,
		.links = { .announce = announce, .belongs = belongs, .userdata = f },
		.owner = { .ask = ask }
	};
	f->lifecycle = (struct lifecycle){ .pipe = &f->pipe };
	profiler_init(&f->p, &f->pipe);
	assert_int_equal(fxt_archive_begin(&f->archive), 0);
	*state = f;
	return 0;
}

FIXTURE(tear_down)
{
	struct fixture *f = *state;

	profiler_deinit(&f->p);
	lifecycle_deinit(&f->lifecycle);
	fxt_archive_deinit(&f->archive);
	tasks_deinit(&f->tasks);
	outbuf_deinit(&f->out);
	free(f);
	return 0;
}

/* ---- records ---- */

static void put(struct fixture *f, const void *rec)
{
	assert_int_equal(profiler_record(&f->p, rec), 0);
}

static void put_stack(struct fixture *f, uint64_t id, uint64_t first, unsigned n)
{
	struct rec_stack rec = { .head = { .size = REC_STACK_BYTES(n), .kind = REC_STACK },
				 .id = id };

	for (unsigned i = 0; i < n; i++)
		rec.frames[i] = first + i;
	put(f, &rec);
}

static void put_tick(struct fixture *f, uint64_t ts_ns, uint32_t pid, uint64_t kernel,
		     uint64_t user)
{
	const struct rec_sample rec = {
		.head = { ts_ns, sizeof(rec), REC_SAMPLE, 1, pid, pid },
		.kernel_stack = kernel,
		.user_stack = user,
	};

	put(f, &rec);
}

union any_mapping {
	struct rec_mapping rec;
	uint8_t bytes[sizeof(struct rec_mapping) + 16];
};

static union any_mapping mapping(uint64_t ts_ns, uint32_t pid, uint64_t start, const char *path)
{
	union any_mapping m = {
		.rec = { .head = { ts_ns, sizeof(m), REC_MAPPING, 0, pid, pid },
			 .start = start,
			 .bytes = 0x1000,
			 .path_bytes = (uint32_t)strlen(path) },
	};

	memcpy(m.rec.path, path, strlen(path));
	return m;
}

static void put_mapping(struct fixture *f, uint64_t ts_ns, uint32_t pid, uint64_t start,
			const char *path)
{
	const union any_mapping m = mapping(ts_ns, pid, start, path);

	put(f, &m);
}

static void put_new_image(struct fixture *f, uint64_t ts_ns, uint32_t pid)
{
	const struct rec_new_image rec = { { ts_ns, sizeof(rec), REC_NEW_IMAGE, 0, pid, pid } };

	put(f, &rec);
}

/* ---- the contents of the archive ---- */

static size_t say(const struct event *ev, char *to, size_t room)
{
	size_t n = 0;

	switch (ev->kind) {
	case EVENT_MAPPING:
		return (size_t)snprintf(to, room, "map %" PRIu64 " %u %" PRIx64 " #%u %s;",
					ev->ts_ns, ev->pid, ev->mapping.start,
					ev->mapping.module_id, ev->mapping.path);
	case EVENT_OFFCPU:
		return (size_t)snprintf(to, room, "away %" PRIu64 "-%" PRIu64 " %u %c by %u%s;",
					ev->ts_ns, ev->offcpu.end_ns, ev->tid, ev->offcpu.state,
					ev->offcpu.waker_tid,
					ev->offcpu.begun     ? " earlier"
					: ev->offcpu.left_by ? " open"
							     : "");
	case EVENT_SAMPLE:
		n = (size_t)snprintf(to, room, "%s %" PRIu64 " %u",
				     ev->sample.kind == SAMPLE_OFF_CPU ? "left" : "on", ev->ts_ns,
				     ev->pid);
		for (unsigned i = 0; i < ev->sample.n_frames; i++)
			n += (size_t)snprintf(to + n, room - n, " %" PRIx64, ev->sample.frames[i]);
		return n + (size_t)snprintf(to + n, room - n, ";");
	default:
		return 0;
	}
}

static void add_said(const struct event *ev, void *userdata)
{
	struct fixture *f = userdata;
	size_t n = strlen(f->said);

	say(ev, f->said + n, sizeof(f->said) - n);
}

static const char *said(struct fixture *f)
{
	f->said[0] = '\0';
	archive_events(&f->out, add_said, f);
	return f->said;
}

/* ---- tests ---- */

TEST(test_samples)
{
	struct fixture *f = *state;

	put_stack(f, 1, 0xffffffff81000000, 2);
	put_stack(f, 2, 0x1000, 1);
	put_tick(f, 99, PID, 1, 2); /* before the recording */
	put_tick(f, 110, PID, 1, 2);
	put_tick(f, 120, PID, 0, 2);
	put_tick(f, 130, PID, 0, 0); /* without a stack */
	assert_string_equal(said(f), "on 110 500 ffffffff81000000 ffffffff81000001 1000;"
				     "on 120 500 1000;");
	assert_int_equal(f->p.n_events, 2);
	assert_int_equal(f->p.n_homeless, 0);
	put_tick(f, 140, PID, 0, 77);
	assert_int_equal(f->p.n_homeless, 1);
}

/* Addresses that cannot be code end the program's frames. The kernel's frames are kept. */
TEST(test_nonsense)
{
	struct fixture *f = *state;

	put_stack(f, 1, 0xffffffffffffffff, 3); /* wraps to 0 and 1 */
	put_stack(f, 2, 0x7ffffffffffffffe, 4); /* continues with the top bit set */
	put_stack(f, 3, 0x0, 2);                /* a jump to 0 keeps its address */
	put_tick(f, 110, PID, 0, 1);
	put_tick(f, 120, PID, 0, 2);
	put_tick(f, 130, PID, 1, 3);
	assert_string_equal(said(f), "on 110 500 ffffffffffffffff;"
				     "on 120 500 7ffffffffffffffe 7fffffffffffffff;"
				     "on 130 500 ffffffffffffffff 0 1 0;");
}

TEST(test_offcpu)
{
	struct fixture *f = *state;
	struct rec_offcpu rec = {
		.head = { 200, sizeof(rec), REC_OFFCPU, 0, PID, PID },
		.begin_ns = 150,
		.user_stack = 2,
		.waker_tid = 9,
		.state = 'S',
	};

	put_stack(f, 2, 0x1000, 1);
	put(f, &rec);
	rec.begin_ns = 50; /* before the recording */
	rec.waker_tid = 0;
	rec.state = 'D';
	put(f, &rec);
	assert_string_equal(said(f), "away 150-200 500 S by 9;left 150 500 1000;"
				     "away 100-200 500 D by 0;left 100 500 1000;");
}

/*
 * A time off CPU that has not ended is written up to the end of the recording, if it is long enough
 * then.
 */
TEST(test_offcpu_open)
{
	struct fixture *f = *state;
	struct rec_offcpu rec = {
		.head = { 250, sizeof(rec), REC_OFFCPU, 0, PID, PID },
		.begin_ns = 150,
		.user_stack = 2,
		.waker_tid = 9,
		.state = 'S',
	};

	put_stack(f, 2, 0x1000, 1);
	f->p.offcpu_min_ns = 20;
	f->pipe.to_ns = 199;
	put(f, &rec); /* comes back after the end */
	rec.is_open = 1;
	rec.begin_ns = 160;
	rec.head.ts_ns = 190; /* at a pause */
	put(f, &rec);
	rec.head.ts_ns = 250;
	rec.begin_ns = 180; /* too short until the end */
	put(f, &rec);
	rec.begin_ns = 200; /* leaves after it */
	put(f, &rec);
	assert_string_equal(said(f), "away 150-199 500 S by 0 open;left 150 500 1000;"
				     "away 160-190 500 S by 0 open;left 160 500 1000;");
}

/* Puts the copied stack ID of thread TID, with the frames FRAME and FRAME + 1, into PIECES. */
static void add_piece(struct outbuf *pieces, uint64_t id, uint32_t tid, uint64_t frame)
{
	struct rec_piece piece = {
		.head = { 140, sizeof(piece), REC_PIECE, 0, PID, tid },
		.id = id,
		.n_frames = 2,
		.frames = { frame, frame + 1 },
	};

	assert_int_equal(outbuf_append(pieces, &piece, sizeof(piece)), 0);
}

/*
 * The stack of a thread that waits since before the recording is kept until it runs, however many
 * stacks are forgotten meanwhile, and not longer. Without it, there is no loss.
 */
TEST(test_offcpu_earlier)
{
	_cleanup_(outbuf_deinit) struct outbuf pieces = { 0 };
	struct fixture *f = *state;
	struct rec_offcpu rec = {
		.head = { 200, sizeof(rec), REC_OFFCPU, 0, PID, PID },
		.begin_ns = 150,
		.user_stack = 7,
		.state = 'S',
		.is_earlier = 1,
	};

	add_piece(&pieces, 7, PID, 0x1000);
	add_piece(&pieces, 9, PID + 1, 0x2000);
	assert_int_equal(profiler_add_waiting(&f->p, &pieces), 0);
	stacks_deinit(&f->p.stacks);
	put(f, &rec);
	put(f, &rec);
	rec.user_stack = 0; /* not copied */
	put(f, &rec);
	assert_string_equal(said(f), "away 150-200 500 S by 0 earlier;left 150 500 1000 1001;"
				     "away 150-200 500 S by 0 earlier;"
				     "away 150-200 500 S by 0 earlier;");
	assert_int_equal(f->p.n_homeless, 0);
	assert_non_null(table_get(&f->p.waiting, 9));
	/* Times off CPU begin again. */
	outbuf_reset(&pieces);
	assert_int_equal(profiler_add_waiting(&f->p, &pieces), 0);
	assert_non_null(table_get(&f->p.waiting, 9));
	add_piece(&pieces, 11, PID, 0x3000);
	assert_int_equal(profiler_add_waiting(&f->p, &pieces), 0);
	/* A record that came before is processed after it. */
	rec.user_stack = 9;
	rec.head.tid = PID + 1;
	put(f, &rec);
	assert_non_null(strstr(said(f), " 2000 2001;"));
	outbuf_reset(&pieces);
	/* A walk whose table is missing is tried again. */
	add_piece(&pieces, 13, PID, 0x4000);
	((struct rec_piece *)pieces.data)->sp = FAKE_NO_TABLE;
	assert_int_equal(profiler_add_waiting(&f->p, &pieces), 0);
	assert_non_null(table_get(&f->p.waiting_before, 11));
	assert_int_equal(f->p.left_bytes, sizeof(struct rec_piece));
	rec.user_stack = 13;
	rec.head.tid = PID;
	put(f, &rec);
	assert_non_null(strstr(said(f), " 4000 4001;"));
	assert_int_equal(f->p.left_bytes, 0);
	outbuf_reset(&pieces);
	add_piece(&pieces, 15, PID, 0x3000);
	assert_int_equal(profiler_add_waiting(&f->p, &pieces), 0);
	assert_null(table_get(&f->p.waiting_before, 11));
}

/* Puts the copied stack ID, with which TID leaves its CPU. */
static void put_left(struct fixture *f, uint64_t id, uint32_t tid, uint64_t frame, uint64_t sp)
{
	_cleanup_(outbuf_deinit) struct outbuf pieces = { 0 };
	struct rec_piece *piece;

	add_piece(&pieces, id, tid, frame);
	piece = (struct rec_piece *)pieces.data;
	piece->is_wait = 1;
	piece->sp = sp;
	assert_int_equal(profiler_stage.record(&f->p, &piece->head), 0);
}

/*
 * The copied stack of a thread that waits is kept until it runs, however many stacks are forgotten
 * meanwhile, and not longer than until it leaves again. If a table is missing, the walk is tried
 * again at the end of the wait.
 */
TEST(test_offcpu_copied)
{
	struct fixture *f = *state;
	struct rec_offcpu rec = {
		.head = { 200, sizeof(rec), REC_OFFCPU, 0, PID, PID },
		.begin_ns = 150,
		.user_stack = 7,
		.state = 'S',
	};
	struct rec_exit ended = { .head = { 210, sizeof(ended), REC_EXIT, 0, PID, PID } };

	put_left(f, 5, PID, 0x5000, FAKE_NO_TABLE); /* a short wait */
	assert_int_equal(f->p.left_bytes, sizeof(struct rec_piece));
	put_left(f, 7, PID, 0x1000, FAKE_NO_TABLE);
	assert_int_equal(f->p.left_bytes, sizeof(struct rec_piece));
	stacks_deinit(&f->p.stacks);
	put(f, &rec);
	assert_int_equal(f->p.left_bytes, 0);
	put_left(f, 9, PID, 0x2000, 0);
	assert_int_equal(f->p.left_bytes, 0);
	rec.user_stack = 9;
	put(f, &rec);
	assert_string_equal(said(f), "away 150-200 500 S by 0;left 150 500 1000 1001;"
				     "away 150-200 500 S by 0;left 150 500 2000 2001;");
	assert_int_equal(f->p.n_homeless, 0);
	put_left(f, 11, PID, 0x3000, FAKE_NO_TABLE);
	assert_int_equal(f->p.left.n_used, 1);
	assert_int_equal(profiler_stage.record(&f->p, &ended.head), 0);
	assert_int_equal(f->p.left.n_used, 0);
	assert_int_equal(f->p.left_bytes, 0);
	put_left(f, 13, PID, 0x3000, FAKE_NO_TABLE); /* of a thread that ends in a pause */
	profiler_forget_left(&f->p, PID);
	assert_int_equal(f->p.left.n_used, 0);
	assert_int_equal(f->p.left_bytes, 0);
}

/*
 * Memory for copied stacks is bounded. Copies of threads that have run again do not take it from
 * those that come later, and no stack is lost.
 */
TEST(test_offcpu_copied_limits)
{
	struct fixture *f = *state;
	struct rec_offcpu rec = {
		.head = { 200, sizeof(rec), REC_OFFCPU, 0, PID, PID },
		.begin_ns = 150,
		.state = 'S',
	};
	size_t n_bytes = PROFILER_LEFT_BYTES_MAX / sizeof(struct rec_piece);
	uint32_t i;

	assert_true(n_bytes < PROFILER_LEFT_MAX);
	for (i = 1; i <= n_bytes; i++)
		put_left(f, i, PID + i, 0x1000, FAKE_NO_TABLE);
	assert_int_equal(f->p.left_bytes, n_bytes * sizeof(struct rec_piece));
	put_left(f, i, PID + i, 0x2000, FAKE_NO_TABLE);
	assert_int_equal(f->p.left_bytes, sizeof(struct rec_piece));
	assert_int_equal(f->p.left.n_used, i);
	rec.user_stack = rec.head.tid = 1;
	rec.head.tid += PID;
	put(f, &rec);
	assert_non_null(strstr(said(f), " 1000 1001;"));
	for (; i <= PROFILER_LEFT_MAX + 10; i++)
		put_left(f, i, PID + i, 0x3000, FAKE_NO_TABLE);
	assert_int_equal(f->p.left.n_used, PROFILER_LEFT_MAX);
	assert_true(f->p.left_bytes <= PROFILER_LEFT_BYTES_MAX);
	rec.user_stack = i - 1;
	rec.head.tid = PID + i - 1;
	put(f, &rec);
	assert_non_null(strstr(said(f), " 3000 3001;"));
	assert_int_equal(f->p.n_homeless, 0);
}

/* Mappings of a new program come after its exec. */
TEST(test_exec)
{
	struct fixture *f = *state;

	put_mapping(f, 110, PID, 0x1000, "/a");
	put_new_image(f, 120, PID);
	put_mapping(f, 121, PID, 0x2000, "/b");
	put_mapping(f, 122, PID, 0x3000, "/c");
	assert_string_equal(said(f), "map 110 500 1000 #0 /a;");
	assert_int_equal(profiler_executed(&f->p, PID, 130), 0);
	put_mapping(f, 140, PID, 0x4000, "/d");
	assert_string_equal(said(f), "map 110 500 1000 #0 /a;map 130 500 2000 #1 /b;"
				     "map 130 500 3000 #2 /c;map 140 500 4000 #3 /d;");
	/* The record of an exec was lost. A stack shows at last that it is complete. */
	put_new_image(f, 150, PID);
	put_mapping(f, 151, PID, 0x5000, "/e");
	put_stack(f, 1, 0x5000, 1);
	put_tick(f, 160, PID, 0, 1);
	assert_null(strstr(said(f), "/e"));
	put_tick(f, 2000000000, PID, 0, 1);
	assert_non_null(strstr(said(f), "map 151 500 5000 #4 /e;on 2000000000"));
}

/* With a filter: only mappings of processes with stacks, and all of those. */
TEST(test_filter)
{
	const union any_mapping listed = mapping(FROM, PID, 0x1000, "/listed"),
				foreign_uid = mapping(FROM, 600, 0x1000, "/stranger");
	struct fixture *f = *state;

	f->pipe.filtered = true;
	assert_int_equal(profiler_listed(&f->p, &listed.rec), 0);
	assert_int_equal(profiler_listed(&f->p, &foreign_uid.rec), 0);
	put_mapping(f, 110, PID, 0x2000, "/later");
	put_mapping(f, 110, 600, 0x2000, "/later");
	assert_int_equal(profiler_forked(&f->p, PID, 501), 0);
	assert_string_equal(said(f), "");
	put_stack(f, 1, 0x1000, 1);
	put_tick(f, 120, PID, 0, 1);
	put_mapping(f, 130, PID, 0x3000, "/more");
	assert_string_equal(said(f), "map 100 500 1000 #0 /listed;map 110 500 2000 #1 /later;"
				     "on 120 500 1000;map 130 500 3000 #2 /more;");
	/* The child has its parent's mappings. */
	put_tick(f, 140, 501, 0, 1);
	assert_non_null(strstr(said(f), "map 100 501 1000 #0 /listed;map 110 501 2000 #1 /later;"
					"on 140 501 1000;"));
	assert_int_equal(profiler_ended(&f->p, 600), 0);
	assert_int_equal(f->p.waiting_bytes, 0);
}

/* ... or with other records, which only selected processes have. */
TEST(test_filter_without_stacks)
{
	struct fixture *f = *state;

	f->pipe.filtered = true;
	put_mapping(f, 110, PID, 0x1000, "/a");
	put_mapping(f, 110, 600, 0x1000, "/stranger");
	assert_int_equal(profiler_selected(&f->p, PID), 0);
	assert_int_equal(profiler_selected(&f->p, PID), 0);
	assert_string_equal(said(f), "map 110 500 1000 #0 /a;");
	/* A new program need not be selected. Its exec shows that it is. */
	put_new_image(f, 120, PID);
	put_mapping(f, 121, PID, 0x2000, "/b");
	assert_null(strstr(said(f), "/b"));
	assert_int_equal(profiler_executed(&f->p, PID, 130), 0);
	put_mapping(f, 140, PID, 0x3000, "/c");
	assert_string_equal(said(f), "map 110 500 1000 #0 /a;map 130 500 2000 #1 /b;"
				     "map 140 500 3000 #2 /c;");
	assert_int_equal(profiler_finish(&f->p), 0);
	assert_null(strstr(said(f), "/stranger"));
}

/* The filter can select a name: that of the program, or the one of an exec that begins. */
TEST(test_filter_renamed)
{
	struct fixture *f = *state;

	f->pipe.filtered = true;
	put_mapping(f, 110, PID, 0x1000, "/renames");
	put_mapping(f, 110, 501, 0x1000, "/executes");
	put_mapping(f, 110, 502, 0x1000, "/ends");
	profiler_renamed(&f->p, PID);
	profiler_renamed(&f->p, 501);
	profiler_renamed(&f->p, 502);
	put_new_image(f, 120, 501);
	put_mapping(f, 121, 501, 0x2000, "/new");
	assert_string_equal(said(f), "");
	assert_int_equal(profiler_ended(&f->p, 502), 0);
	assert_string_equal(said(f), "map 110 502 1000 #0 /ends;");
	assert_int_equal(profiler_executed(&f->p, 501, 130), 0);
	assert_int_equal(profiler_finish(&f->p), 0);
	assert_string_equal(said(f), "map 110 502 1000 #0 /ends;"
				     "map 130 501 2000 #0 /new;map 110 500 1000 #0 /renames;");
}

/*
 * In a session of a user's own processes, each mapping waits until it is known that the process was
 * selected after it.
 */
TEST(test_own)
{
	struct fixture *f = *state;

	f->pipe.filtered = f->pipe.own = true;
	put_mapping(f, 110, PID, 0x1000, "/a");
	put_mapping(f, 112, PID, 0x2000, "/b");
	/* A process with a name need not belong to the user any more. */
	assert_int_equal(profiler_selected(&f->p, PID), 0);
	assert_int_equal(profiler_need(&f->p, PID, 0), 0);
	assert_string_equal(said(f), "");
	assert_int_equal(profiler_need(&f->p, PID, 111), 0);
	assert_string_equal(said(f), "map 110 500 1000 #0 /a;");
	put_stack(f, 1, 0x2000, 1);
	put_tick(f, 120, PID, 0, 1);
	assert_string_equal(said(f), "map 110 500 1000 #0 /a;map 112 500 2000 #1 /b;"
				     "on 120 500 2000;");
	put_mapping(f, 130, PID, 0x3000, "/nobody asks");
	put_mapping(f, 130, 2, 0x3000, "/kernel");
	put_mapping(f, 130, PID, UINT64_C(0xffffffff81000000), "/kernel");
	assert_int_equal(profiler_need(&f->p, 2, 140), 0);
	assert_int_equal(profiler_finish(&f->p), 0);
	assert_null(strstr(said(f), "/nobody asks"));
	assert_int_equal(profiler_need(&f->p, PID, 140), 0);
	assert_non_null(strstr(said(f), "/nobody asks"));
	assert_null(strstr(said(f), "/kernel"));
}

/* It executes a program with another user's rights, and then one of its user again. */
TEST(test_own_executes)
{
	struct fixture *f = *state;

	f->pipe.filtered = f->pipe.own = true;
	put_mapping(f, 110, PID, 0x1000, "/a");
	assert_int_equal(profiler_need(&f->p, PID, 115), 0);
	profiler_renamed(&f->p, PID);
	put_new_image(f, 120, PID);
	put_mapping(f, 121, PID, 0x2000, "/hidden");
	/* An earlier record, which is late. */
	assert_int_equal(profiler_need(&f->p, PID, 119), 0);
	put_mapping(f, 122, PID, 0x3000, "/hidden");
	put_new_image(f, 140, PID);
	put_mapping(f, 141, PID, 0x4000, "/b");
	assert_string_equal(said(f), "map 110 500 1000 #0 /a;");
	assert_int_equal(profiler_executed(&f->p, PID, 150), 0);
	assert_string_equal(said(f), "map 110 500 1000 #0 /a;map 150 500 4000 #1 /b;");
	/* The same again, and the begin of the second exec is unknown. */
	put_new_image(f, 160, PID);
	put_mapping(f, 161, PID, 0x2000, "/hidden");
	profiler_doubt(&f->p, 165);
	put_mapping(f, 162, PID, 0x2000, "/hidden");
	assert_int_equal(profiler_executed(&f->p, PID, 170), 0);
	put_mapping(f, 171, PID, 0x2000, "/doubtful");
	assert_int_equal(profiler_need(&f->p, PID, 180), 0);
	assert_string_equal(said(f), "map 110 500 1000 #0 /a;map 150 500 4000 #1 /b;");
	assert_int_equal(f->p.waiting_bytes, 0);
	/* Without a noticed loss. */
	put_new_image(f, 190, PID);
	put_mapping(f, 191, PID, 0x5000, "/c");
	assert_int_equal(profiler_executed(&f->p, PID, 192), 0);
	put_mapping(f, 193, PID, 0x2000, "/hidden");
	assert_int_equal(profiler_executed(&f->p, PID, 200), 0);
	assert_null(strstr(said(f), "hidden"));
	assert_non_null(strstr(said(f), "map 192 500 5000 #2 /c;"));
}

/* After a loss, only new begins are trusted. */
TEST(test_own_doubts)
{
	struct fixture *f = *state;

	f->pipe.filtered = f->pipe.own = true;
	put_mapping(f, 110, PID, 0x1000, "/before");
	profiler_doubt(&f->p, 115);
	assert_int_equal(profiler_need(&f->p, PID, 120), 0);
	/* Records of the time before belong to it. */
	put_new_image(f, 112, 602);
	put_mapping(f, 113, 602, 0x2000, "/half");
	assert_int_equal(profiler_executed(&f->p, 602, 119), 0);
	assert_int_equal(profiler_forked(&f->p, PID, 603), 0);
	assert_int_equal(profiler_trust(&f->p, 603, 114), 0);
	put_mapping(f, 118, 603, 0x2000, "/child of then");
	assert_int_equal(profiler_need(&f->p, 603, 120), 0);
	put_mapping(f, 120, 600, 0x1000, "/unknown");
	assert_int_equal(profiler_need(&f->p, 600, 130), 0);
	assert_string_equal(said(f), "");
	assert_int_equal(profiler_forked(&f->p, PID, 501), 0);
	assert_int_equal(profiler_trust(&f->p, 501, 139), 0);
	put_mapping(f, 140, 501, 0x1000, "/child");
	assert_int_equal(profiler_need(&f->p, 501, 150), 0);
	put_new_image(f, 160, 600);
	put_mapping(f, 161, 600, 0x2000, "/new");
	/* An exec whose record comes very late. */
	put_new_image(f, 160, 601);
	put_mapping(f, 161, 601, 0x2000, "/lost");
	assert_int_equal(profiler_executed(&f->p, 600, 170), 0);
	assert_int_equal(profiler_need(&f->p, 601, 2000000000), 0);
	assert_string_equal(said(f), "map 140 501 1000 #0 /child;map 170 600 2000 #0 /new;");
}

enum { LIVES = 7, MANY = 500000, MANY_SLOWLY = 100000 };

static bool is_gone(uint32_t pid)
{
	return pid != LIVES;
}

/* Starts and ends many processes whose mappings are never needed. */
static void announce_foreign_processes(struct fixture *f, uint64_t from_ns)
{
	const unsigned many = under_valgrind() ? MANY_SLOWLY : MANY;

	for (unsigned i = 0; i < many; i++)
		put_mapping(f, from_ns + i * UINT64_C(1000000), 1000 + i, 0x1000, "/a");
}

/*
 * The end of an unselected process is not reported. Such processes are checked before their
 * mappings use much memory.
 */
TEST(test_filter_forgets)
{
	struct fixture *f = *state;

	f->pipe.filtered = true;
	f->pipe.owner.is_gone = is_gone;
	put_mapping(f, 110, LIVES, 0x1000, "/lives");
	announce_foreign_processes(f, clock_boot_ns());
	assert_in_range(f->p.waiting_bytes, 1, 2 << 20);
	assert_in_range(f->p.processes.n_used, 2, 20000);
	assert_int_equal(f->p.n_dropped, 0);
	assert_int_equal(profiler_selected(&f->p, LIVES), 0);
	assert_non_null(strstr(said(f), "/lives"));
	assert_int_equal(f->p.n_dropped, 0);
}

/* A thread that has ended can still have records of the time before. Its id can be reused. */
TEST(test_filter_gone)
{
	struct fixture *f = *state;
	uint64_t now_ns = clock_boot_ns();

	f->pipe.filtered = true;
	f->pipe.owner.is_gone = is_gone;
	put_mapping(f, 110, PID, 0x1000, "/asked for");
	for (unsigned i = 0; f->p.swept_ns == 0 && i < MANY; i++)
		put_mapping(f, now_ns, 1000 + i, 0x1000, "/a");
	assert_int_equal(profiler_need(&f->p, PID, now_ns), 0);
	assert_string_equal(said(f), "map 110 500 1000 #0 /asked for;");
	put_mapping(f, clock_boot_ns() + 10, 1000, 0x2000, "/another one's");
	assert_int_equal(profiler_need(&f->p, 1000, clock_boot_ns() + 20), 0);
	assert_null(strstr(said(f), "/a;"));
	assert_non_null(strstr(said(f), "/another one's"));
}

/* If ends are not visible, mappings are kept for a limited time, if there is little room. */
TEST(test_filter_forgets_by_time)
{
	struct fixture *f = *state;

	f->pipe.filtered = true;
	announce_foreign_processes(f, 110);
	assert_in_range(f->p.waiting_bytes, 1, 20 << 20);
	assert_int_equal(f->p.n_dropped, 0);
}

/* Mappings that were dropped are counted when they are needed. */
TEST(test_too_much)
{
	struct fixture *f = *state;

	f->pipe.filtered = true;
	for (unsigned i = 0; i < MANY; i++)
		put_mapping(f, 110, 1000 + i % 100, 0x1000, "/a");
	assert_in_range(f->p.waiting_bytes, 31 << 20, 32 << 20);
	put_mapping(f, 110, PID, 0x1000, "/b");
	put_mapping(f, 110, PID, 0x2000, "/c");
	assert_int_equal(f->p.n_dropped, 0);
	assert_int_equal(profiler_forked(&f->p, PID, 501), 0);
	assert_int_equal(profiler_need(&f->p, PID, 120), 0);
	assert_int_equal(f->p.n_dropped, 2);
	assert_int_equal(profiler_need(&f->p, PID, 121), 0);
	assert_int_equal(f->p.n_dropped, 2);
	assert_int_equal(profiler_selected(&f->p, 501), 0);
	assert_int_equal(f->p.n_dropped, 4);
}

/* Nor are mappings of other users after a loss, in a session of one user's own processes. */
TEST(test_own_loses_nothing_of_others)
{
	struct fixture *f = *state;

	f->pipe.filtered = f->pipe.own = true;
	put_mapping(f, 110, PID, 0x1000, "/before");
	put_mapping(f, 110, 600, 0x1000, "/stranger");
	profiler_doubt(&f->p, 115);
	put_mapping(f, 120, 600, 0x2000, "/stranger");
	put_mapping(f, 120, 601, 0x2000, "/stranger");
	put_mapping(f, 120, PID, 0x2000, "/doubtful");
	assert_int_equal(profiler_need(&f->p, 600, 0), 0);
	assert_int_equal(f->p.n_dropped, 0);
	assert_int_equal(profiler_need(&f->p, PID, 130), 0);
	assert_int_equal(f->p.n_dropped, 2);
	assert_string_equal(said(f), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_samples, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nonsense, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_offcpu, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_offcpu_open, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_offcpu_earlier, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_offcpu_copied, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_offcpu_copied_limits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_exec, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_filter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_filter_without_stacks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_filter_renamed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_filter_forgets, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_filter_forgets_by_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_filter_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_own_executes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_own_doubts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_own_loses_nothing_of_others, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_too_much, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
