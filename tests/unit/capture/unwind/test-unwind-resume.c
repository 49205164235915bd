/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks in user space: of this program's own stack, through copies of it, with the tables of its
 * own files. glibc's backtrace() is the truth.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/unwind/unwind-resume.h"
#include "tests/support/unit.h"
#include "tests/support/fixtures/unwind-map-set.h"

#define NOINLINE __attribute__((noinline, noclone))

enum { MM = 77, TRUTH_MAX = 256 };

static struct unwind_maps maps;
static struct unwind_process process; /* this process */
static struct {
	struct rec_piece piece;
	uint8_t stack[PIECE_BYTES_MAX];
} copied;
static void *truth[TRUTH_MAX];
static int n_truth;

/* ---- this process ---- */

static void put_table(uint16_t number, const char *path)
{
	_cleanup_(unwind_table_deinit) struct unwind_table table = { 0 };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(data, MAP_FAILED);
	assert_int_equal(unwind_table_read(data, (size_t)st.st_size, &table), 0);
	munmap(data, (size_t)st.st_size);
	assert_int_equal(unwind_maps_put(&maps, number, &table), 0);
}

/* All mappings with code of this process, from /proc, in the order of addresses. */
static void list_mappings(void)
{
	FILE *list = fopen("/proc/self/maps", "re");
	char line[512];

	assert_non_null(list);
	while (fgets(line, sizeof(line), list)) {
		struct unwind_mapping *m = &process.mappings[process.n];
		uint64_t start, end, offset;
		char path[256] = "", may[5];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %255[^\n]",
			   &start, &end, may, &offset, path) < 4 ||
		    may[2] != 'x' || start >> 47)
			continue;
		m->where = UNWIND_WHERE(start >> UNWIND_PAGE_SHIFT,
					(end - start) >> UNWIND_PAGE_SHIFT);
		m->file_page = (uint32_t)(offset >> UNWIND_PAGE_SHIFT);
		m->file = UNWIND_FILE_NONE;
		process.n++;
		if (path[0] != '/')
			continue;
		m->file = (uint16_t)process.n;
		put_table(m->file, path);
	}
	fclose(list);
}

FIXTURE(setup)
{
	int r = unwind_map_set_make(&maps);

	if (r == 0) {
		memset(&process, 0, sizeof(process));
		process.mm = MM;
		list_mappings();
	}
	*state = (void *)(intptr_t)r;
	return 0;
}

FIXTURE(teardown)
{
	unwind_maps_deinit(&maps);
	return 0;
}

/* ---- stacks ---- */

/* Copies the stack from here on, with ROOM bytes of room, and finds its real callers. */
NOINLINE static void copy_here(uint32_t room)
{
	struct iovec to = { copied.stack, room }, from = { .iov_len = room };
	volatile ssize_t n = -1; /* (since getcontext() can return twice) */
	ucontext_t here;

	getcontext(&here);
	n_truth = backtrace(truth, TRUTH_MAX);
	memset(&copied.piece, 0, sizeof(copied.piece));
	copied.piece.head.pid = 4711;
	copied.piece.id = 1;
	copied.piece.ip = (uint64_t)here.uc_mcontext.gregs[REG_RIP];
	copied.piece.sp = (uint64_t)here.uc_mcontext.gregs[REG_RSP];
	copied.piece.bp = (uint64_t)here.uc_mcontext.gregs[REG_RBP];
	copied.piece.exact = 1;
	copied.piece.n_frames = 1;
	copied.piece.frames[0] = copied.piece.ip;
	copied.piece.n_room = room;
	copied.piece.process = process;
	from.iov_base = (void *)(uintptr_t)copied.piece.sp;
	/* (a stack can end before the room does) */
	for (; n < 0 && from.iov_len > 0; from.iov_len -= n < 0 ? 256 : 0)
		n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	assert_true(n > 0);
	copied.piece.n_bytes = (uint32_t)n;
}

NOINLINE static int copy_deeper(unsigned depth, uint32_t room)
{
	volatile char block[512];

	block[depth % sizeof(block)] = (char)depth;
	if (depth == 0)
		copy_here(room);
	else
		copy_deeper(depth - 1, room);
	return block[depth % sizeof(block)];
}

static struct unwind_seen *seen; /* NULL = none */

static struct unwind_resumed resume(uint64_t *frames)
{
	return unwind_resume(&maps.kept, maps.processes_fd, seen, &copied.piece, copied.stack,
			     frames);
}

/*
 * Compares the first N frames with the real ones. The innermost one is at another instruction of
 * its function.
 */
static void assert_true_frames(const uint64_t *frames, unsigned n)
{
	assert_true(n <= (unsigned)n_truth);
	for (unsigned i = 1; i < n; i++)
		assert_int_equal(frames[i], (uint64_t)(uintptr_t)truth[i]);
}

TEST(test_whole)
{
	uint64_t frames[STACK_FRAMES_MAX];
	struct unwind_resumed walk;

	unwind_map_set_need(state);
	copy_deeper(5, PIECE_BYTES_MAX);
	walk = resume(frames);
	assert_int_equal(walk.end, UNWIND_END_WHOLE);
	assert_false(walk.ran_out);
	assert_int_equal(walk.n_frames, n_truth);
	assert_true_frames(frames, walk.n_frames);
}

TEST(test_short_copy)
{
	uint64_t frames[STACK_FRAMES_MAX];
	struct unwind_resumed walk;

	unwind_map_set_need(state);
	copy_deeper(40, PIECE_BYTES(0));
	walk = resume(frames);
	assert_int_equal(walk.end, UNWIND_END_MEMORY);
	assert_true(walk.ran_out);
	assert_in_range(walk.n_frames, 4, 12);
	assert_true_frames(frames, walk.n_frames);
	copy_deeper(40, PIECE_BYTES(2));
	walk = resume(frames);
	assert_int_equal(walk.end, UNWIND_END_WHOLE);
	assert_int_equal(walk.n_frames, n_truth);
}

/* More than fit. */
TEST(test_full)
{
	uint64_t frames[STACK_FRAMES_MAX];
	struct unwind_resumed walk;

	unwind_map_set_need(state);
	copy_deeper(100, PIECE_BYTES_MAX);
	copied.piece.n_frames = 60;
	walk = resume(frames);
	assert_int_equal(walk.end, UNWIND_END_FULL);
	assert_int_equal(walk.n_frames, STACK_FRAMES_MAX);
}

/* The walk has stopped at a caller whose mapping was unknown, so it is not among the frames. */
TEST(test_caller)
{
	uint64_t frames[STACK_FRAMES_MAX], whole[STACK_FRAMES_MAX];
	struct unwind_resumed walk;

	unwind_map_set_need(state);
	copy_deeper(5, PIECE_BYTES_MAX);
	walk = resume(whole);
	copied.piece.frames[0] = whole[0] + 1;
	walk = resume(frames);
	assert_int_equal(walk.end, UNWIND_END_WHOLE);
	assert_int_equal(walk.n_frames, n_truth + 1);
	assert_int_equal(frames[0], whole[0] + 1);
	for (unsigned i = 0; i < (unsigned)n_truth; i++)
		assert_int_equal(frames[i + 1], whole[i]);
	copied.piece.n_frames = STACK_FRAMES_MAX;
	assert_int_equal(resume(frames).end, UNWIND_END_FULL);
}

/* Mappings are learned later, but only of the same program. */
TEST(test_learned)
{
	uint64_t frames[STACK_FRAMES_MAX];
	uint32_t tgid = 4711;
	struct unwind_resumed walk;

	unwind_map_set_need(state);
	copy_deeper(5, PIECE_BYTES_MAX);
	copied.piece.process.n = 0;
	walk = resume(frames);
	assert_int_equal(walk.end, UNWIND_END_MAPPING);
	assert_int_equal(walk.n_frames, 1);
	process.mm = MM + 1;
	assert_int_equal(bpf_map_update_elem(maps.processes_fd, &tgid, &process, BPF_ANY), 0);
	assert_int_equal(resume(frames).end, UNWIND_END_MAPPING);
	process.mm = MM;
	assert_int_equal(bpf_map_update_elem(maps.processes_fd, &tgid, &process, BPF_ANY), 0);
	walk = resume(frames);
	assert_int_equal(walk.end, UNWIND_END_WHOLE);
	assert_false(unwind_resume_can_improve(walk.end));
	assert_true_frames(frames, walk.n_frames);
}

/* Mappings that were copied during a change are not used, but those of a later time are. */
TEST(test_changing)
{
	uint64_t frames[STACK_FRAMES_MAX];
	uint32_t tgid = 4711;
	struct unwind_resumed walk;

	unwind_map_set_need(state);
	copy_deeper(5, PIECE_BYTES_MAX);
	copied.piece.process.sequence = 3;
	assert_int_equal(resume(frames).end, UNWIND_END_BUSY);
	assert_true(unwind_resume_can_improve(UNWIND_END_BUSY));
	process.sequence = 5;
	assert_int_equal(bpf_map_update_elem(maps.processes_fd, &tgid, &process, BPF_ANY), 0);
	assert_int_equal(resume(frames).end, UNWIND_END_BUSY);
	process.sequence = 6;
	assert_int_equal(bpf_map_update_elem(maps.processes_fd, &tgid, &process, BPF_ANY), 0);
	copied.piece.process.n = 0;
	walk = resume(frames);
	assert_int_equal(walk.end, UNWIND_END_WHOLE);
	assert_true_frames(frames, walk.n_frames);
}

/* Removed tables, and tables of an earlier file with the same number, are not used. */
TEST(test_gone)
{
	uint64_t frames[STACK_FRAMES_MAX], bp;

	unwind_map_set_need(state);
	copy_deeper(5, PIECE_BYTES_MAX);
	bp = copied.piece.bp;
	/* (no frame pointer, which would lead on) */
	copied.piece.bp = 1;
	for (uint32_t i = 0; i < process.n; i++)
		copied.piece.process.mappings[i].generation = 1;
	assert_int_equal(resume(frames).end, UNWIND_END_TABLE);
	copied.piece.process = process;
	copied.piece.bp = bp;
	assert_int_equal(resume(frames).end, UNWIND_END_WHOLE);
	for (uint32_t i = 0; i < process.n; i++)
		if (process.mappings[i].file != UNWIND_FILE_NONE)
			unwind_maps_reset_file(&maps, process.mappings[i].file);
	assert_int_equal(resume(frames).end, UNWIND_END_TABLE);
}

/* ---- frame pointers ---- */

/* The address of the C library's code. */
static uint64_t libc_address(void)
{
	return (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "qsort");
}

static void take_table(uint64_t address, bool is_empty)
{
	for (uint32_t i = 0; i < process.n; i++) {
		const struct unwind_mapping *m = &process.mappings[i];

		if (m->file == UNWIND_FILE_NONE ||
		    (address >> UNWIND_PAGE_SHIFT) - UNWIND_WHERE_FIRST(m->where) >=
			    UNWIND_WHERE_N(m->where))
			continue;
		unwind_maps_reset_file(&maps, m->file);
		if (is_empty)
			unwind_maps_put_nothing(&maps, m->file);
	}
}

/*
 * A copy with two frames by frame pointers, which return to the addresses FIRST and SECOND. This
 * program's own file describes no frames.
 */
static void copy_frames(uint64_t first, uint64_t second)
{
	uint64_t *frame = (uint64_t *)copied.stack;

	copy_deeper(5, PIECE_BYTES_MAX);
	copied.piece.bp = copied.piece.sp;
	frame[0] = copied.piece.sp + 16;
	frame[1] = first;
	frame[2] = 0;
	frame[3] = second;
	copied.piece.n_calls = 1;
	copied.piece.calls[0] = (struct rec_piece_call){ copied.piece.bp, copied.piece.ip, 0 };
	take_table(copied.piece.ip, true);
}

static void assert_walk(int end, unsigned n_frames)
{
	uint64_t frames[STACK_FRAMES_MAX];
	struct unwind_resumed walk = resume(frames);

	assert_int_equal(walk.end, end);
	assert_int_equal(walk.n_frames, n_frames);
}

/* Frame pointers are followed in files that describe no frames, and only when this is known. */
TEST(test_frame_pointers)
{
	unwind_map_set_need(state);
	copy_deeper(5, PIECE_BYTES_MAX);
	take_table(copied.piece.ip, false);
	assert_walk(UNWIND_END_TABLE, 1);
	copy_frames(copied.piece.ip, copied.piece.ip);
	assert_walk(UNWIND_END_WHOLE, 3);
}

/* Known frames are judged by what is called before their return address, as the programs do. */
TEST(test_called)
{
	unwind_map_set_need(state);
	copy_frames(0, 0);
	assert_walk(UNWIND_END_WHOLE, 1);
	copy_frames(copied.piece.ip, copied.piece.ip);
	copied.piece.calls[0].called = 0;
	assert_walk(UNWIND_END_TABLE, 1);
	copied.piece.calls[0].called = PIECE_CALLED_BY_REGISTER;
	assert_walk(UNWIND_END_WHOLE, 3);
	copied.piece.calls[0].called = libc_address();
	assert_walk(UNWIND_END_TABLE, 1);
	copied.piece.calls[0].linked = copied.piece.ip;
	assert_walk(UNWIND_END_WHOLE, 3);
	copied.piece.calls[0].linked = libc_address() + 1;
	assert_walk(UNWIND_END_TABLE, 1);
	/* Without the table of the called function, that is unknown. */
	take_table(libc_address(), false);
	copied.piece.calls[0].linked = 0;
	assert_walk(UNWIND_END_TABLE, 1);
	copied.piece.calls[0].called = 4096;
	assert_walk(UNWIND_END_TABLE, 1);
	/* The second frame is known, too. */
	copy_frames(copied.piece.ip, libc_address());
	copied.piece.n_calls = 2;
	copied.piece.calls[1].bp = copied.piece.sp + 16;
	assert_walk(UNWIND_END_TABLE, 2);
	copied.piece.calls[1].called = copied.piece.ip;
	assert_walk(UNWIND_END_TABLE, 3);
}

/* Of the other frames, nobody knows what is called: they stay in the same code. */
TEST(test_same_code)
{
	unwind_map_set_need(state);
	copy_frames(copied.piece.ip, libc_address());
	assert_walk(UNWIND_END_TABLE, 2);
	take_table(libc_address(), true);
	assert_walk(UNWIND_END_TABLE, 2);
	copy_frames(libc_address(), libc_address());
	assert_walk(UNWIND_END_WHOLE, 3);
	copy_frames(libc_address(), copied.piece.ip);
	assert_walk(UNWIND_END_TABLE, 2);
}

/* Where nothing else is wanted, the chain is followed as far as it leads upwards. */
TEST(test_frames_alone)
{
	uint64_t frames[STACK_FRAMES_MAX], *stack = (uint64_t *)copied.stack;
	const uint64_t sp = 0x10000;

	memset(&copied.piece, 0, sizeof(copied.piece));
	copied.piece.ip = copied.piece.frames[0] = 1;
	copied.piece.sp = copied.piece.bp = sp;
	copied.piece.n_frames = 1;
	copied.piece.n_bytes = copied.piece.n_room = 4 * sizeof(uint64_t);
	stack[0] = sp + 16;
	stack[1] = 2;
	stack[2] = sp + 64; /* not in the copy */
	stack[3] = 3;
	assert_int_equal(unwind_resume_frames(&copied.piece, copied.stack, frames), 3);
	assert_int_equal(frames[0], 1);
	assert_int_equal(frames[1], 2);
	assert_int_equal(frames[2], 3);
	stack[2] = sp; /* downwards */
	assert_int_equal(unwind_resume_frames(&copied.piece, copied.stack, frames), 3);
	stack[3] = 0; /* the end */
	assert_int_equal(unwind_resume_frames(&copied.piece, copied.stack, frames), 2);
	copied.piece.bp = sp - 8; /* no frame */
	assert_int_equal(unwind_resume_frames(&copied.piece, copied.stack, frames), 1);
	copied.piece.bp = UINT64_MAX - 7;
	assert_int_equal(unwind_resume_frames(&copied.piece, copied.stack, frames), 1);
}

/* Adds all mappings to those that the kernel has reported, for PID at TS_NS. */
static void see_mappings(uint32_t pid, uint64_t ts_ns)
{
	for (uint32_t i = 0; i < process.n; i++) {
		const struct unwind_mapping *m = &process.mappings[i];
		uint64_t start = UNWIND_WHERE_FIRST(m->where) << UNWIND_PAGE_SHIFT;
		bool has_file = m->file != UNWIND_FILE_NONE;

		if (has_file) {
			maps.files[m->file].inode = 1000u + m->file;
			maps.files[m->file].device = 7;
		}
		unwind_seen_add(
			seen,
			&(struct unwind_seen_mapping){
				.ts_ns = ts_ns,
				.start = start,
				.end = start + (UNWIND_WHERE_N(m->where) << UNWIND_PAGE_SHIFT),
				.file_offset = (uint64_t)m->file_page << UNWIND_PAGE_SHIFT,
				.inode = has_file ? 1000u + m->file : 0,
				.device = 7,
				.pid = pid,
			});
	}
}

/*
 * Mappings that no walk has learned, as those of a program that has ended, are known from the
 * kernel's reports: of this process, before the copy, and if no two files can be meant.
 */
TEST(test_seen)
{
	static struct unwind_seen reports;
	uint64_t frames[STACK_FRAMES_MAX];
	struct unwind_resumed walk;

	unwind_map_set_need(state);
	unwind_seen_init(&reports);
	seen = &reports;
	copy_deeper(5, PIECE_BYTES_MAX);
	copied.piece.head.ts_ns = 100;
	copied.piece.process.n = 0;
	see_mappings(4712, 50);
	see_mappings(4711, 101);
	assert_int_equal(resume(frames).end, UNWIND_END_MAPPING);
	see_mappings(4711, 100);
	walk = resume(frames);
	assert_int_equal(walk.end, UNWIND_END_WHOLE);
	assert_int_equal(walk.n_frames, n_truth);
	assert_true_frames(frames, walk.n_frames);
	/* also if the copied ones are useless */
	copied.piece.process = process;
	copied.piece.process.sequence = 3;
	assert_int_equal(resume(frames).end, UNWIND_END_WHOLE);
	for (uint32_t i = UNWIND_FILES_MAX / 2; i < UNWIND_FILES_MAX / 2 + process.n; i++) {
		maps.files[i].inode = 1000u + process.mappings[i - UNWIND_FILES_MAX / 2].file;
		maps.files[i].device = 7;
	}
	assert_int_equal(resume(frames).end, UNWIND_END_BUSY);
	for (int i = 0; i <= UNWIND_SEEN_MAX; i++)
		unwind_seen_add(seen, &(struct unwind_seen_mapping){ .pid = 1 });
	copied.piece.process.n = 0;
	copied.piece.process.sequence = 0;
	assert_int_equal(resume(frames).end, UNWIND_END_MAPPING);
	unwind_seen_deinit(&reports);
	seen = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_short_copy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_caller, setup, teardown),
		cmocka_unit_test_setup_teardown(test_learned, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_seen, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_frame_pointers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_called, setup, teardown),
		cmocka_unit_test_setup_teardown(test_same_code, setup, teardown),
		cmocka_unit_test(test_frames_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
