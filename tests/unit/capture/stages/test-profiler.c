/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of stacks and mappings of all processes, as the merge returns them, and the resulting
 * archive.
 */
#include <string.h>

#include "base/cleanup.h"
#include "capture/calls/probed-inodes.h"
#include "model/calls/call-syscalls.h"
#include "tests/support/fakes/fake-collector.h"
#include "tests/support/fixtures/profiler-stage.h"
#include "tests/support/unit.h"

TEST(test_samples)
{
	struct fixture *f = *state;

	put_stack(f, 1, 0xffffffff81000000, 2);
	put_stack(f, 2, 0x1000, 1);
	put_tick(f, 99, PID, 1, 2); /* before the recording */
	put_tick(f, 110, PID, 1, 2);
	put_tick(f, 120, PID, 0, 2);
	put_tick(f, 130, PID, 0, 0); /* without a stack */
	assert_string_equal(profiled(f), "on 110 500 ffffffff81000000 ffffffff81000001 1000;"
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
	assert_string_equal(profiled(f), "on 110 500 ffffffffffffffff;"
					 "on 120 500 7ffffffffffffffe 7fffffffffffffff;"
					 "on 130 500 ffffffffffffffff 0 1 0;");
}

/* The code object 5: the function main() in x.py, without lines. */
static void put_code(struct fixture *f)
{
	struct rec_python_code code = { .head = { .size = sizeof(code), .kind = REC_PYTHON_CODE },
					.id = 5,
					.n_name = 4,
					.n_file = 4,
					.name_kind = 1,
					.file_kind = 1 };

	memcpy(code.name, "main", 4);
	memcpy(code.file, "x.py", 4);
	put(f, &code);
}

/* A stack with a function of Python, which has its name before the first stack with it. */
TEST(test_python)
{
	struct fixture *f = *state;
	struct rec_stack rec = { .head = { .size = REC_STACK_BYTES(3), .kind = REC_STACK },
				 .id = 1,
				 .frames = { 0x1000, 0x2000 | PYTHON_EVAL,
					     PYTHON_WORD | PYTHON_IS_ENTRY | 5 } };

	put_code(f);
	put(f, &rec);
	put_stack(f, 2, 0xffffffff81000000, 1);
	put_tick(f, 110, PID, 2, 1);
	put_tick(f, 120, PID, 0, 1);
	assert_string_equal(profiled(f), "name 2000000000000000 main x.py:0;"
					 "on 110 500 ffffffff81000000 1000 2000000000000001 2000;"
					 "on 120 500 1000 2000000000000001 2000;");
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
	rec.in_iowait = 1;
	put(f, &rec);
	assert_string_equal(profiled(f), "away 150-200 500 S by 9;left 150 500 1000;"
					 "away 100-200 500 D by 0 io;left 100 500 1000;");
}

/* The wakeup, and the system call with its descriptor or futex. */
TEST(test_offcpu_call)
{
	struct fixture *f = *state;
	struct rec_offcpu rec = {
		.head = { 200, sizeof(rec), REC_OFFCPU, 0, PID, PID },
		.begin_ns = 150,
		.state = 'S',
		.woken_ns = 190,
		.call = { .argument = 0x700000001008, .table = OFFCPU_CALL_OWN },
	};

	rec.call.number = (uint32_t)call_syscall_by_name("futex")->number;
	put(f, &rec);
	rec.call.number = (uint32_t)call_syscall_by_name("read")->number;
	rec.call.argument = 7;
	put(f, &rec);
	rec.call.argument = UINT64_MAX; /* no descriptor */
	put(f, &rec);
	rec.call.number = (uint32_t)call_syscall_by_name("nanosleep")->number;
	rec.call.argument = 7;
	put(f, &rec);
	rec.call.number = 99999; /* unknown */
	put(f, &rec);
	rec.call.number = 3;
	rec.call.table = OFFCPU_CALL_32; /* other numbers, and other arguments */
	put(f, &rec);
	rec.call.table = OFFCPU_CALL_X32;
	put(f, &rec);
	rec.call.table = OFFCPU_CALL_NONE;
	put(f, &rec);
	rec.end = REC_OFFCPU_OPEN; /* it was not woken in the recording */
	put(f, &rec);
#define AWAY "away 150-200 500 S by 0;woken 190;"
	assert_string_equal(profiled(f),
			    AWAY "in futex -1 700000001008;" AWAY "in read 7 0;" AWAY
				 "in read -1 0;" AWAY "in nanosleep -1 0;" AWAY
				 "in 99999 -1 0;" AWAY "in 32-bit 3 -1 0;" AWAY
				 "in x32 3 -1 0;" AWAY "away 150-200 500 S by 0 open;");
#undef AWAY
}

/* The owner of a lock must be another thread, of the same process if others cannot use the lock. */
TEST(test_offcpu_owner)
{
	struct fixture *f = *state;
	struct rec_offcpu rec = {
		.head = { 200, sizeof(rec), REC_OFFCPU, 0, PID, PID },
		.begin_ns = 150,
		.state = 'S',
		.call = { .argument = 0x1000, .table = OFFCPU_CALL_OWN },
	};
	const struct rec_identity sibling = { .tid = PID + 1, .pid = PID };
	const struct rec_identity other = { .tid = 900, .pid = 900 };

	assert_true(tasks_update(&f->tasks, &sibling, true) >= 0);
	assert_true(tasks_update(&f->tasks, &other, true) >= 0);
	rec.call.number = (uint32_t)call_syscall_by_name("futex")->number;
	rec.call.owner_tid = PID + 1;
	put(f, &rec);
	rec.call.owner_tid = 900;
	put(f, &rec);
	rec.call.is_shared = 1;
	put(f, &rec);
	rec.call.owner_tid = PID;
	put(f, &rec);
	rec.call.owner_tid = 901; /* no thread */
	put(f, &rec);
	rec.call.owner_tid = UINT32_MAX;
	put(f, &rec);
#define AWAY "away 150-200 500 S by 0;in futex -1 1000;"
	assert_string_equal(profiled(f), AWAY "owner 501;" AWAY AWAY "owner 900;" AWAY AWAY AWAY);
#undef AWAY
}

/*
 * The stack of a waker is that of its process, without the frames of the wakeup. The stack of an
 * interrupt is one of the kernel.
 */
TEST(test_offcpu_waker)
{
	struct fixture *f = *state;
	struct rec_offcpu rec = {
		.head = { 200, sizeof(rec), REC_OFFCPU, 0, PID, PID },
		.begin_ns = 150,
		.woken_ns = 180,
		.waker_tid = 9,
		.state = 'S',
		.waker = { .kernel_stack = 3, .user_stack = 2, .pid = 8 },
	};

	put_stack(f, 2, 0x1000, 1);
	/* (a wakeup is at this address: see fake-collector.c) */
	put_stack(f, 3, 0xffffffff80ffffff, 3);
	put(f, &rec);
	rec.waker_tid = 0;
	rec.waker =
		(struct offcpu_waker){ .kernel_stack = 3, .context = OFFCPU_WOKEN_BY_INTERRUPT };
	put(f, &rec);
	rec.waker.context = OFFCPU_WOKEN_BY_SOFTIRQ;
	rec.waker.kernel_stack = 0;
	put(f, &rec);
	assert_string_equal(profiled(f),
			    "named 180 8 ffffffff81000001 1000;"
			    "away 150-200 500 S by 9;woken 180;waker's stack;"
			    "named 180 2 ffffffff81000001;"
			    "away 150-200 500 S by 0;woken 180;interrupt;waker's stack;"
			    "away 150-200 500 S by 0;woken 180;softirq;");
	/* A stack that has not arrived counts as lost. */
	rec.waker.kernel_stack = 77;
	put(f, &rec);
	assert_int_equal(f->p.n_homeless, 1);
}

/* A waker with a function of Python, and with as many frames as possible. */
TEST(test_offcpu_waker_python)
{
	struct fixture *f = *state;
	struct rec_offcpu rec = {
		.head = { 200, sizeof(rec), REC_OFFCPU, 0, PID, PID },
		.begin_ns = 150,
		.woken_ns = 180,
		.waker_tid = 9,
		.state = 'S',
		.waker = { .kernel_stack = 3, .user_stack = 2, .pid = 8 },
	};
	struct rec_stack user = {
		.head = { .size = REC_STACK_BYTES(STACK_FRAMES_MAX), .kind = REC_STACK }, .id = 2
	};

	for (unsigned i = 0; i < STACK_FRAMES_MAX - 2; i++)
		user.frames[i] = 0x1000 + i;
	user.frames[STACK_FRAMES_MAX - 2] = 0x2000 | PYTHON_EVAL;
	user.frames[STACK_FRAMES_MAX - 1] = PYTHON_WORD | PYTHON_IS_ENTRY | 5;
	put_code(f);
	put(f, &user);
	put_stack(f, 3, 0xffffffff80ffffff, STACK_FRAMES_MAX);
	put(f, &rec);
	assert_non_null(strstr(profiled(f), "name 2000000000000000 main x.py:0;"));
	assert_non_null(strstr(profiled(f), " 107c 2000000000000001 2000;"
					    "away 150-200 500 S by 9;woken 180;waker's stack;"));
}

/* A thread that did not wait, but whose cgroup has used up its quota. */
TEST(test_offcpu_throttled)
{
	struct fixture *f = *state;
	struct rec_offcpu rec = {
		.head = { 200, sizeof(rec), REC_OFFCPU, 0, PID, PID },
		.begin_ns = 150,
		.state = 'R',
		.quota = { .quota_ns = 20, .period_ns = 100, .cgroup_id = 7 },
	};
	const struct rec_cgroup cgroup = { .id = 7, .bytes = 3, .path = "/c" };

	put(f, &rec);
	assert_int_equal(tasks_set_cgroup(&f->tasks, &cgroup), 0);
	put(f, &rec);
	assert_string_equal(profiled(f), "away 150-200 500 R by 0 throttled;20/100 in ?;"
					 "away 150-200 500 R by 0 throttled;20/100 in /c;");
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
	rec.end = REC_OFFCPU_OPEN;
	rec.begin_ns = 160;
	rec.head.ts_ns = 190; /* at a pause */
	put(f, &rec);
	rec.head.ts_ns = 250;
	rec.begin_ns = 180; /* too short until the end */
	put(f, &rec);
	rec.begin_ns = 200; /* leaves after it */
	put(f, &rec);
	rec.end = REC_OFFCPU_RUNS;
	rec.begin_ns = 170;
	rec.head.ts_ns = 195; /* an estimate */
	put(f, &rec);
	assert_string_equal(profiled(f), "away 150-199 500 S by 0 open;left 150 500 1000;"
					 "away 160-190 500 S by 0 open;left 160 500 1000;"
					 "away 170-195 500 S by 9 unknown;left 170 500 1000;");
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
	assert_string_equal(profiled(f), "away 150-200 500 S by 0 earlier;left 150 500 1000 1001;"
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
	assert_non_null(strstr(profiled(f), " 2000 2001;"));
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
	assert_non_null(strstr(profiled(f), " 4000 4001;"));
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
	assert_string_equal(profiled(f), "away 150-200 500 S by 0;left 150 500 1000 1001;"
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
	assert_non_null(strstr(profiled(f), " 1000 1001;"));
	for (; i <= PROFILER_LEFT_MAX + 10; i++)
		put_left(f, i, PID + i, 0x3000, FAKE_NO_TABLE);
	assert_int_equal(f->p.left.n_used, PROFILER_LEFT_MAX);
	assert_true(f->p.left_bytes <= PROFILER_LEFT_BYTES_MAX);
	rec.user_stack = i - 1;
	rec.head.tid = PID + i - 1;
	put(f, &rec);
	assert_non_null(strstr(profiled(f), " 3000 3001;"));
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
	assert_string_equal(profiled(f), "map 110 500 1000 #0 /a;");
	assert_int_equal(profiler_executed(&f->p, PID, 130), 0);
	put_mapping(f, 140, PID, 0x4000, "/d");
	assert_string_equal(profiled(f), "map 110 500 1000 #0 /a;map 130 500 2000 #1 /b;"
					 "map 130 500 3000 #2 /c;map 140 500 4000 #3 /d;");
	/* The record of an exec was lost. A stack shows at last that it is complete. */
	put_new_image(f, 150, PID);
	put_mapping(f, 151, PID, 0x5000, "/e");
	put_stack(f, 1, 0x5000, 1);
	put_tick(f, 160, PID, 0, 1);
	assert_null(strstr(profiled(f), "/e"));
	put_tick(f, 2000000000, PID, 0, 1);
	assert_non_null(strstr(profiled(f), "map 151 500 5000 #4 /e;on 2000000000"));
}

/* A process that loads files in a loop is named once for each of them, up to a limit. */
TEST(test_other_files_loop)
{
	char name[] = "/lib/libc.so.6", path[] = "/a/libc.so";
	struct probed_inode file = { .identity = { .device = 1, .inode = 7 },
				     .path = name,
				     .stem = "libc" };
	const struct probed_inodes probed = { &file, 1 };
	struct fixture *f = *state;
	const char *text;
	unsigned n = 0;

	f->p.probed = &probed;
	for (unsigned i = 0; i < 100; i++) {
		union any_mapping m;

		path[1] = (char)('a' + i % 20);
		m = mapping(110 + i, PID, 0x1000, path);
		m.rec.inode = 8 + i % 20;
		put(f, &m);
	}
	text = profiled(f);
	for (const char *at = text; (at = strstr(at, "other ")); at++)
		n++;
	assert_int_equal(n, OTHER_FILES_MAX + 1);
	assert_int_equal(f->p.others.n, OTHER_FILES_MAX);
	assert_int_equal(f->p.others.n_unnamed, 1);
	assert_int_equal(f->p.others.n_processes, 1);
	assert_int_equal(profiler_forked(&f->p, PID, PID + 1), 0);
	assert_int_equal(f->p.others.n_processes, 2);
	assert_int_equal(f->p.others.list[0].n, 2);
	assert_int_equal(profiler_executed(&f->p, PID + 1, 300), 0);
	assert_int_equal(profiler_forked(&f->p, PID + 1, PID + 2), 0);
	assert_int_equal(f->p.others.n_processes, 2);
}

/* A process that executes another program is named again, since its state is forgotten. */
TEST(test_other_files)
{
	char name[] = "/lib/libc.so.6";
	struct probed_inode file = { .identity = { .device = 1, .inode = 7 },
				     .path = name,
				     .stem = "libc" };
	const struct probed_inodes probed = { &file, 1 };
	union any_mapping m = mapping(110, PID, 0x1000, "/lib/libc.so");
	struct fixture *f = *state;

	f->p.probed = &probed;
	m.rec.inode = 8;
	put(f, &m);
	put_new_image(f, 120, PID);
	m.rec.head.ts_ns = 121;
	put(f, &m);
	assert_int_equal(profiler_executed(&f->p, PID, 130), 0);
	m.rec.head.ts_ns = 140;
	m.rec.inode = 7;
	put(f, &m);
	assert_string_equal(profiled(f), "map 110 500 1000 #0 /lib/libc.so;"
					 "other 110 500 /lib/libc.so for libc.so.6;"
					 "map 130 500 1000 #1 /lib/libc.so;"
					 "other 130 500 /lib/libc.so for libc.so.6;"
					 "map 140 500 1000 #2 /lib/libc.so;");
	assert_int_equal(f->p.others.n_processes, 1);
	assert_int_equal(f->p.others.list[0].n, 1);
	/* The path of the file with probes: it was replaced. */
	m = mapping(150, PID, 0x1000, "/lib/libc.so.6");
	m.rec.inode = 9;
	put(f, &m);
	assert_non_null(strstr(profiled(f), "other 150 500 /lib/libc.so.6 for /lib/libc.so.6;"));
}

#define CASE(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, profiler_stage_set_up, profiler_stage_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_samples),
		CASE(test_nonsense),
		CASE(test_python),
		CASE(test_offcpu),
		CASE(test_offcpu_call),
		CASE(test_offcpu_owner),
		CASE(test_offcpu_waker),
		CASE(test_offcpu_waker_python),
		CASE(test_offcpu_throttled),
		CASE(test_offcpu_open),
		CASE(test_offcpu_earlier),
		CASE(test_offcpu_copied),
		CASE(test_offcpu_copied_limits),
		CASE(test_exec),
		CASE(test_other_files),
		CASE(test_other_files_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
