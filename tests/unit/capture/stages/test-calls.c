/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ends of calls: by a return, by longjmp(), jumps to other functions, other stacks, the end of
 * the thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/archive-text.h"
#include "tests/support/fixtures/calls-stage.h"
#include "tests/support/unit.h"

/* ---- events ---- */

static void enter_in(struct fixture *f, uint32_t pid, uint32_t tid, uint64_t ts_ns,
		     uint32_t function, uint64_t sp)
{
	const struct rec_call rec = {
		.head = { .ts_ns = ts_ns,
			  .kind = REC_CALL,
			  .size = REC_CALL_BYTES(0),
			  .pid = pid,
			  .tid = tid },
		.function = function,
		.sp = sp,
	};

	assert_int_equal(calls_record(&f->calls, &rec.head), 0);
}

static void enter_by(struct fixture *f, uint64_t ts_ns, uint32_t function, uint64_t sp,
		     uint64_t caller, bool is_chained)
{
	struct rec_call rec = {
		.head = { .ts_ns = ts_ns,
			  .kind = REC_CALL,
			  .size = REC_CALL_BYTES(0),
			  .pid = 7,
			  .tid = 7 },
		.function = function,
		.sp = sp,
		.caller = caller,
		.is_chained = is_chained,
		.args = { ts_ns },
	};

	assert_int_equal(calls_record(&f->calls, &rec.head), 0);
}

static void enter_from(struct fixture *f, uint64_t ts_ns, uint32_t function, uint64_t sp,
		       uint64_t caller)
{
	enter_by(f, ts_ns, function, sp, caller, false);
}

static void enter(struct fixture *f, uint64_t ts_ns, uint32_t function, uint64_t sp)
{
	enter_from(f, ts_ns, function, sp, 0x1000 + sp);
}

static void leave_at(struct fixture *f, uint32_t pid, uint32_t tid, uint64_t ts_ns,
		     uint32_t function, uint64_t sp, uint16_t ret_in_page)
{
	struct rec_call_end rec = {
		.head = { .ts_ns = ts_ns,
			  .kind = REC_CALL_END,
			  .size = sizeof(rec),
			  .pid = pid,
			  .tid = tid },
		.function = function,
		.ret_in_page = ret_in_page,
		.sp = sp,
		.result = ts_ns,
	};

	assert_int_equal(calls_record(&f->calls, &rec.head), 0);
}

static void leave_in(struct fixture *f, uint32_t pid, uint32_t tid, uint64_t ts_ns,
		     uint32_t function, uint64_t sp)
{
	leave_at(f, pid, tid, ts_ns, function, sp, 0);
}

static void leave(struct fixture *f, uint64_t ts_ns, uint32_t function, uint64_t sp)
{
	leave_in(f, 7, 7, ts_ns, function, sp);
}

static void end_thread(struct fixture *f, uint32_t tid, uint64_t ts_ns)
{
	const struct rec_exit rec = {
		.head = { .ts_ns = ts_ns,
			  .kind = REC_EXIT,
			  .size = sizeof(rec),
			  .pid = 7,
			  .tid = tid },
	};

	assert_int_equal(calls_record(&f->calls, &rec.head), 0);
}

/* ---- the archive ---- */

static void call_line(const struct event *ev, void *to)
{
	if (ev->kind != EVENT_CALL)
		return;
	fprintf(to, "%s %ju-%ju", ev->call.function, (uintmax_t)ev->ts_ns,
		(uintmax_t)ev->call.end_ns);
	if (ev->call.result.form == CALL_VALUE_INT)
		fprintf(to, " = %jd", (intmax_t)ev->call.result.i64);
	fprintf(to, "%s%s\n", *ev->call.left_by ? " " : "", ev->call.left_by);
}

static void assert_calls(struct fixture *f, const char *want)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	archive_events(&f->out, call_line, to);
	fclose(to);
	assert_string_equal(text, want);
}

/* The number of calls that were unwound. */
static size_t count_unwound(struct fixture *f)
{
	_cleanup_free_ char *text = NULL;
	size_t size, n = 0;
	FILE *to = open_memstream(&text, &size);

	archive_events(&f->out, call_line, to);
	fclose(to);
	for (const char *at = text; (at = strstr(at, " unwound\n")); at++)
		n++;
	return n;
}

/* ---- pairs ---- */

TEST(test_nested)
{
	struct fixture *f = *state;

	enter(f, 110, MAIN, 9000);
	enter(f, 120, DEEP, 8000);
	enter(f, 130, DEEP, 7000);
	leave(f, 140, DEEP, 7000);
	leave(f, 150, DEEP, 8000);
	leave(f, 160, MAIN, 9000);
	assert_calls(f, "deep 130-140 = 140\ndeep 120-150 = 150\nmain 110-160\n");
	assert_int_equal(f->calls.open_bytes, 0);
}

/* Recursion of any depth. */
LARGE_TEST(test_recursion)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 3000; i++)
		enter(f, 1000 + i, DEEP, 1000000 - 48 * i);
	for (uint64_t i = 3000; i-- > 0;)
		leave(f, 9000 - i, DEEP, 1000000 - 48 * i);
	assert_int_equal(f->calls.n_events, 3000);
	assert_int_equal(f->calls.n_unpaired, 0);
	assert_int_equal(f->calls.open_bytes, 0);
}

/* longjmp() to main(), which makes another call, and returns. */
TEST(test_unwound)
{
	struct fixture *f = *state;

	enter(f, 110, MAIN, 9000);
	enter(f, 120, DEEP, 8000);
	enter(f, 130, DEEP, 7000);
	enter(f, 140, TEXT, 8500);
	leave(f, 150, TEXT, 8500);
	enter(f, 160, DEEP, 8000);
	leave(f, 170, MAIN, 9000);
	assert_calls(f, "text 140-150 = 150\ndeep 120-140 unwound\nmain 110-170\n");
	enter(f, 180, DEEP, 7000);
	assert_int_equal(calls_close(&f->calls, 190), 0);
	assert_calls(f, "text 140-150 = 150\ndeep 120-140 unwound\nmain 110-170\n"
			"deep 130-140 unwound\ndeep 180-190 open\ndeep 160-170 unwound\n");
	assert_int_equal(f->calls.open_bytes, 0);
}

/* Two coroutines take turns on adjacent stacks. One never ends. */
TEST(test_coroutines)
{
	struct fixture *f = *state;

	enter(f, 110, DEEP, 8000);
	enter(f, 120, DEEP, 9000);
	leave(f, 130, DEEP, 8000);
	enter(f, 140, DEEP, 8000);
	leave(f, 150, DEEP, 9000);
	enter(f, 160, DEEP, 9000);
	leave(f, 170, DEEP, 8000);
	assert_calls(f, "deep 110-130 = 130\ndeep 120-150 = 150\ndeep 140-170 = 170\n");
	enter(f, 180, TEXT, 9500);
	leave(f, 190, TEXT, 9500);
	assert_int_equal(calls_close(&f->calls, 200), 0);
	assert_calls(f, "deep 110-130 = 130\ndeep 120-150 = 150\ndeep 140-170 = 170\n"
			"text 180-190 = 190\ndeep 160-200 open\n");
	assert_int_equal(f->calls.n_unpaired, 0);
	assert_int_equal(f->calls.open_bytes, 0);
}

/*
 * A coroutine continues in another thread: an open call and one in doubt. Neither a thread of
 * another process nor a system call can end them.
 */
TEST(test_coroutine_moves)
{
	struct fixture *f = *state;

	enter(f, 110, DEEP, 8000);
	enter(f, 120, TEXT, 9000);
	enter(f, 130, READ, 8900);
	leave_in(f, 6, 6, 140, DEEP, 8000);
	leave_in(f, 7, 8, 150, READ, 8900);
	assert_int_equal(f->calls.n_unpaired, 2);
	leave_in(f, 7, 8, 160, DEEP, 8000);
	leave_in(f, 7, 9, 170, TEXT, 9000);
	assert_calls(f, "deep 110-160 = 160\ntext 120-170 = 170\n");
	leave(f, 180, READ, 8900);
	assert_int_equal(f->calls.n_unpaired, 2);
	assert_int_equal(f->calls.open_bytes, 0);
}

/* Programs choose their stack pointers, and can be the process of the highest number. */
TEST(test_any_place)
{
	struct fixture *f = *state;

	enter_in(f, (1 << 22) - 1, 20, 110, DEEP, 0x1ffffffffff8);
	leave_in(f, (1 << 22) - 1, 21, 120, DEEP, 0x1ffffffffff8);
	assert_int_equal(f->calls.n_events, 1);
}

/*
 * Calls of many threads are listed by process and stack pointer, until they end: in their own
 * thread, in another one, or with their thread. Returns of calls that were left out end none.
 */
TEST(test_many_threads)
{
	struct fixture *f = *state;
	const uint32_t n = 300;

	for (uint32_t i = 0; i < n; i++) {
		enter_in(f, 7, 10 + i, 110, MAIN, 9000 + 4096 * i);
		enter_in(f, 7, 10 + i, 120, DEEP, 8000 + 4096 * i);
		enter_in(f, 7, 10 + i, 130, READ, 7000 + 4096 * i);
	}
	/* (another process has the same addresses) */
	enter_in(f, 8, 8, 140, DEEP, 8000);
	assert_int_equal(f->calls.places.n_used, 2 * n + 1);
	for (uint32_t i = 0; i < n; i++) {
		leave_in(f, 7, 9, 150, TEXT, 8000 + 4096 * i);
		leave_in(f, 7, 9, 150, DEEP, 8008 + 4096 * i);
		leave_in(f, 9, 9, 150, DEEP, 8000 + 4096 * i);
	}
	assert_int_equal(f->calls.n_unpaired, 3 * n);
	assert_int_equal(f->calls.n_events, 0);
	for (uint32_t i = 0; i < n; i++) {
		leave_in(f, 7, 10 + i, 160, READ, 7000 + 4096 * i);
		leave_in(f, 7, i % 2 ? 10 + i : 9, 170, DEEP, 8000 + 4096 * i);
	}
	assert_int_equal(f->calls.n_unpaired, 3 * n);
	assert_int_equal(f->calls.n_events, 2 * n);
	assert_int_equal(f->calls.places.n_used, n + 1);
	for (uint32_t i = 0; i < n; i++)
		end_thread(f, 10 + i, 180);
	leave_in(f, 8, 9, 190, DEEP, 8000);
	assert_int_equal(f->calls.n_events, 3 * n + 1);
	assert_int_equal(f->calls.places.n_used, 0);
	assert_int_equal(f->calls.open_bytes, 0);
}

/* Two threads have open calls of several functions at one place: each is found. */
TEST(test_one_place)
{
	struct fixture *f = *state;

	enter_in(f, 7, 10, 110, MAIN, 8000);
	enter_in(f, 7, 11, 120, DEEP, 8000);
	enter_in(f, 7, 12, 130, TEXT, 8000);
	assert_int_equal(f->calls.places.n_used, 1);
	leave_in(f, 7, 9, 140, DEEP, 8000);
	leave_in(f, 7, 9, 150, TEXT, 8000);
	leave_in(f, 7, 9, 160, DEEP, 8000);
	leave_in(f, 7, 10, 170, MAIN, 8000);
	assert_calls(f, "deep 120-140 = 140\ntext 130-150 = 150\nmain 110-170\n");
	assert_int_equal(f->calls.n_unpaired, 1);
	assert_int_equal(f->calls.places.n_used, 0);
}

/* A call on the stack of a coroutine that never continues is open at the end of the thread. */
TEST(test_coroutine_stays)
{
	struct fixture *f = *state;

	enter(f, 110, DEEP, 8000);
	enter(f, 120, DEEP, 9000);
	leave(f, 130, DEEP, 8000);
	end_thread(f, 7, 140);
	assert_calls(f, "deep 110-130 = 130\ndeep 120-140 open\n");
	assert_int_equal(f->calls.open_bytes, 0);
}

/* A function jumps to another one, with a coroutine in between. */
TEST(test_coroutine_jumps)
{
	struct fixture *f = *state;

	enter_from(f, 110, TEXT, 8000, 77);
	enter(f, 120, DEEP, 9000);
	enter_from(f, 130, DEEP, 8000, 77);
	leave(f, 140, DEEP, 8000);
	leave(f, 150, TEXT, 8000);
	leave(f, 160, DEEP, 9000);
	assert_calls(f, "deep 130-140 = 140\ntext 110-150 = 150\ndeep 120-160 = 160\n");
	assert_int_equal(f->calls.open_bytes, 0);
}

/* More uncertain calls than there is room for. Later calls are not lost. */
LARGE_TEST(test_much_doubt)
{
	struct fixture *f = *state;
	const uint64_t n = 2 * (32 << 20) / REC_CALL_BYTES(0);

	f->pipe.from_ns = UINT64_MAX;
	for (uint64_t i = 0; i < n; i++)
		enter(f, 1000 + i, DEEP, 4096 + 8 * i);
	assert_int_equal(f->calls.n_dropped, 0);
	assert_in_range(f->calls.open_bytes, 1, 32 << 20);
}

/* A jump to the begin is no call, unless it has another return address. */
TEST(test_turns)
{
	struct fixture *f = *state;

	enter_from(f, 110, LOOP, 8000, 77);
	enter_from(f, 120, LOOP, 8000, 77);
	enter(f, 130, DEEP, 9000);
	enter_from(f, 140, LOOP, 8000, 77);
	leave(f, 150, LOOP, 8000);
	leave(f, 160, DEEP, 9000);
	enter_from(f, 170, LOOP, 8000, 77);
	enter_from(f, 180, LOOP, 8000, 78);
	leave(f, 190, LOOP, 8000);
	assert_calls(f, "loop 110-150 = 150\ndeep 130-160 = 160\nloop 170-180 unwound\n"
			"loop 180-190 = 190\n");
	assert_int_equal(f->calls.n_unpaired, 0);
	assert_int_equal(f->calls.open_bytes, 0);
}

/* Two functions jump to each other repeatedly. Each jump is a call, and ends the one before. */
TEST(test_turns_of_two)
{
	struct fixture *f = *state;
	size_t bytes = 0;

	for (uint64_t i = 0; i < 100; i++) {
		enter_from(f, 110 + 2 * i, LOOP, 8000, 77);
		enter_from(f, 111 + 2 * i, DEEP, 8000, 77);
		if (i == 1)
			bytes = f->calls.open_bytes;
	}
	assert_int_equal(f->calls.open_bytes, bytes);
	leave(f, 400, DEEP, 8000);
	leave(f, 400, LOOP, 8000);
	/* (each but the last call of both has jumped to the other function) */
	assert_int_equal(count_unwound(f), 198);
	assert_int_equal(f->calls.open_bytes, 0);
	assert_int_equal(f->calls.n_unpaired, 0);
}

/* Two functions jump to each other, each with a return probe: the kernel reports all returns. */
TEST(test_turns_chained)
{
	struct fixture *f = *state;

	enter_by(f, 110, TEXT, 8000, 77, false);
	enter_by(f, 120, DEEP, 8000, 77, true);
	enter_by(f, 130, TEXT, 8000, 77, true);
	leave(f, 140, TEXT, 8000);
	leave(f, 140, DEEP, 8000);
	leave(f, 140, TEXT, 8000);
	/* (left by longjmp(), and called again) */
	enter_by(f, 150, TEXT, 8000, 77, false);
	enter_by(f, 160, TEXT, 8000, 77, false);
	leave(f, 170, TEXT, 8000);
	assert_calls(f, "text 130-140 = 140\ndeep 120-140 = 140\ntext 110-140 = 140\n"
			"text 150-160 unwound\ntext 160-170 = 170\n");
	assert_int_equal(f->calls.n_unpaired, 0);
}

/* A function jumps to another one, which returns for both. */
TEST(test_tail_call)
{
	struct fixture *f = *state;

	enter_from(f, 110, TEXT, 8000, 77);
	enter_from(f, 120, DEEP, 8000, 77);
	leave(f, 130, TEXT, 8000);
	leave(f, 130, DEEP, 8000);
	enter_from(f, 140, TEXT, 8000, 77);
	enter_from(f, 150, DEEP, 8000, 77);
	leave(f, 160, DEEP, 8000);
	leave(f, 160, TEXT, 8000);
	assert_calls(f, "text 110-130 = 130\ndeep 120-130 = 130\ndeep 150-160 = 160\n"
			"text 140-160 = 160\n");
}

/*
 * The probes on one `ret` report the ends of all functions that have jumped to it, in any order:
 * the first one ends last, so that the calls are nested.
 */
TEST(test_jump_ends)
{
	struct fixture *f = *state;

	enter_from(f, 110, MAIN, 9000, 5000);
	enter_from(f, 120, DEEP, 8000, 5001);
	enter_from(f, 130, LOOP, 8000, 5001);
	leave(f, 140, DEEP, 8000);
	leave(f, 141, LOOP, 8000);
	/* the end of the inner one is lost */
	enter_from(f, 150, DEEP, 8000, 5001);
	enter_from(f, 160, LOOP, 8000, 5001);
	leave(f, 170, DEEP, 8000);
	leave(f, 190, MAIN, 9000);
	end_thread(f, 7, 200);
	assert_calls(f, "deep 120-140 = 140\nloop 130-140 = 141\ndeep 150-170 = 170\n"
			"main 110-190\nloop 160-170 unwound\n");
	assert_int_equal(f->calls.n_unpaired, 0);
}

/* As leave(), by the `ret` at ADDRESS. */
static void leave_by(struct fixture *f, uint64_t ts_ns, uint32_t function, uint64_t sp,
		     uint64_t address)
{
	leave_at(f, 7, 7, ts_ns, function, sp, CALL_IN_PAGE(address));
}

/*
 * A greenlet makes a call through a pointer, and is copied away. Another one makes a call through
 * the same pointer, at the same place. That is no jump: the first call has another `ret`.
 */
TEST(test_copied_stacks)
{
	static const struct call_place jumps = { .rets = { 0x1010, 0x2fff }, .n_rets = 2 },
				       ends = { .rets = { 0x2fff }, .n_rets = 1 },
				       at_once = { .entry = 0x3020 },
				       unknown = { .flags = CALL_PLACE_PARTIAL };
	struct fixture *f = *state;

	f->list[DEEP].place = &jumps;
	f->list[LOOP].place = &ends;
	enter_from(f, 110, DEEP, 8000, 77);
	enter_from(f, 120, LOOP, 8000, 77);
	leave_by(f, 130, DEEP, 8000, 0x555555551010);
	leave_by(f, 150, LOOP, 8000, 0x555555552fff);
	/* likewise, in doubt */
	enter_from(f, 210, DEEP, 8000, 77);
	enter_from(f, 220, LOOP, 8000, 77);
	enter(f, 230, MAIN, 9000);
	leave_by(f, 240, DEEP, 8000, 0x555555551010);
	leave_by(f, 250, LOOP, 8000, 0x555555552fff);
	leave(f, 260, MAIN, 9000);
	/* a jump */
	enter_from(f, 310, DEEP, 8000, 77);
	enter_from(f, 320, LOOP, 8000, 77);
	leave_by(f, 330, DEEP, 8000, 0x555555552fff);
	leave_by(f, 331, LOOP, 8000, 0x555555552fff);
	/* a jump to a function that begins with its `ret`; to one with unknown ends */
	for (int i = 0; i < 2; i++) {
		f->list[LOOP].place = i == 0 ? &at_once : &unknown;
		enter_from(f, 410, DEEP, 8000, 77);
		enter_from(f, 420, LOOP, 8000, 77);
		leave_by(f, 430, DEEP, 8000, 0x555555553020);
		leave(f, 431, LOOP, 8000);
	}
	assert_calls(f, "deep 110-130 = 130\nloop 120-150 = 150\n"
			"deep 210-240 = 240\nloop 220-250 = 250\nmain 230-260\n"
			"deep 310-330 = 330\nloop 320-330 = 331\n"
			"deep 410-430 = 430\nloop 420-430 = 431\n"
			"deep 410-430 = 430\nloop 420-430 = 431\n");
	assert_int_equal(f->calls.open_bytes, 0);
}

/* A function jumps back to one that jumped to it: that one was left by its jump. */
TEST(test_jump_back)
{
	struct fixture *f = *state;

	enter_from(f, 110, DEEP, 8000, 5000);
	enter_from(f, 120, MAIN, 8000, 5000);
	enter_from(f, 130, DEEP, 8000, 5000);
	enter_from(f, 140, MAIN, 8000, 5000);
	leave(f, 150, DEEP, 8000);
	leave(f, 151, MAIN, 8000);
	assert_calls(f, "deep 110-120 unwound\nmain 120-130 unwound\ndeep 130-150 = 150\n"
			"main 140-150\n");
}

/* A function that jumped out of its file. The next call of its caller has the same place. */
TEST(test_left_unseen)
{
	struct fixture *f = *state;

	enter_from(f, 110, TEXT, 8000, 77);
	enter_from(f, 120, DEEP, 8000, 78);
	leave(f, 130, DEEP, 8000);
	enter_from(f, 140, TEXT, 8000, 77);
	enter_from(f, 150, TEXT, 8000, 77);
	leave(f, 160, TEXT, 8000);
	assert_calls(f, "text 110-120 unwound\ndeep 120-130 = 130\ntext 140-150 unwound\n"
			"text 150-160 = 160\n");
}

/* A function that only makes a system call has the same stack pointer as the call. */
TEST(test_system_call)
{
	struct fixture *f = *state;

	enter_from(f, 110, DEEP, 8000, 77);
	enter_from(f, 120, READ, 8000, 5000);
	leave(f, 130, READ, 8000);
	leave(f, 140, DEEP, 8000);
	enter_from(f, 150, READ, 8000, 5000);
	enter_from(f, 160, READ, 8000, 6000);
	leave(f, 170, READ, 8000);
	assert_calls(f, "getpid 120-130 = 130\ndeep 110-140 = 140\ngetpid 150-160 unwound\n"
			"getpid 160-170 = 170\n");
	assert_int_equal(f->calls.n_unpaired, 0);
}

/*
 * rt_sigreturn, whose return has the stack pointer of the interrupted code. A system call without a
 * number ends in the same way, and is not its end.
 */
TEST(test_signal_return)
{
	struct fixture *f = *state;

	enter(f, 110, MAIN, 9000);
	enter(f, 120, DEEP, 8000);
	leave(f, 130, DEEP, 8000);
	enter(f, 140, SIGRETURN, 8008);
	leave(f, 150, SIGRETURN, 8900);
	leave(f, 160, SIGRETURN, 8900);
	enter(f, 170, READ, 8900);
	leave(f, 180, SIGRETURN, 8900);
	leave(f, 190, READ, 8900);
	leave_in(f, 7, 8, 195, SIGRETURN, 8900);
	leave(f, 200, MAIN, 9000);
	assert_calls(f, "deep 120-130 = 130\nrt_sigreturn 140-150 = 150\n"
			"getpid 170-190 = 190\nmain 110-200\n");
	assert_int_equal(f->calls.n_unpaired, 0);
	assert_int_equal(f->calls.open_bytes, 0);
}

static void enter_unknown(struct fixture *f, uint64_t ts_ns, long number, uint64_t sp)
{
	struct rec_call rec = {
		.head = { .ts_ns = ts_ns,
			  .kind = REC_CALL,
			  .size = REC_CALL_BYTES(0),
			  .pid = 7,
			  .tid = 7 },
		.function = UNKNOWN,
		.sp = sp,
		.args = { [CALL_NUMBER_ARG] = (uint64_t)number },
	};

	assert_int_equal(calls_record(&f->calls, &rec.head), 0);
}

/*
 * Calls with unknown numbers have names by their numbers. At its end, syscall(-1) looks like
 * rt_sigreturn, in the programs too, but no other call does.
 */
TEST(test_unknown_number)
{
	struct fixture *f = *state;

	leave(f, 105, UNKNOWN, 8000);
	enter_unknown(f, 110, 0x270f, 8000);
	leave(f, 115, SIGRETURN, 8000);
	leave(f, 120, UNKNOWN, 8000);
	leave(f, 125, UNKNOWN, 8000);
	enter_unknown(f, 130, -1, 8000);
	leave(f, 135, SIGRETURN, 8008);
	leave(f, 140, SIGRETURN, 8000);
	enter_unknown(f, 150, -1, 8000);
	leave(f, 160, UNKNOWN, 8000);
	enter(f, 170, READ, 8000);
	leave(f, 175, UNKNOWN, 8000);
	leave(f, 180, READ, 8000);
	assert_calls(f, "syscall_0x270f 110-120 = 120\n"
			"syscall_0xffffffffffffffff 130-140 = 140\n"
			"syscall_0xffffffffffffffff 150-160 = 160\ngetpid 170-180 = 180\n");
	assert_int_equal(f->calls.n_unpaired, 0);
}

/* The number of names is limited. */
TEST(test_unknown_numbers)
{
	struct fixture *f = *state;
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	/* (calls before the recording have no names) */
	for (unsigned i = 0; i <= 256; i++) {
		enter_unknown(f, 50, 2000 + i, 8000);
		leave(f, 60, UNKNOWN, 8000);
	}
	assert_int_equal(f->calls.unknown.n_used, 0);
	for (unsigned i = 0; i <= 256; i++) {
		enter_unknown(f, 1000 + 2 * i, 1000 + i, 8000);
		leave(f, 1001 + 2 * i, UNKNOWN, 8000);
	}
	enter_unknown(f, 3000, 1000, 8000);
	leave(f, 3001, UNKNOWN, 8000);
	assert_int_equal(f->calls.unknown.n_used, 256);
	archive_events(&f->out, call_line, to);
	fclose(to);
	assert_non_null(strstr(text, "\nsyscall_0x4e7 1510-1511 = 1511\n"
				     "syscall_0x... 1512-1513 = 1513\n"
				     "syscall_0x3e8 3000-3001 = 3001\n"));
}

/* The end of a system call was lost. The end of a later one, whose begin was lost, is not its. */
TEST(test_lost_end)
{
	struct fixture *f = *state;

	enter(f, 110, MAIN, 9000);
	enter(f, 120, READ, 8000);
	leave(f, 130, READ, 8100);
	leave(f, 140, READ, 7900);
	leave(f, 150, MAIN, 9000);
	assert_int_equal(f->calls.n_unpaired, 2);
	end_thread(f, 7, 160);
	assert_calls(f, "main 110-150\ngetpid 120-150 unwound\n");
}

/* A signal handler on its own stack, which is far away, above and below. */
TEST(test_other_stack)
{
	struct fixture *f = *state;
	const uint64_t far = UINT64_C(1) << 32;

	enter(f, 110, MAIN, far);
	enter(f, 120, DEEP, 2 * far);
	leave(f, 130, DEEP, 2 * far);
	enter(f, 140, DEEP, 4096);
	leave(f, 150, DEEP, 4096);
	leave(f, 160, MAIN, far);
	assert_calls(f, "deep 120-130 = 130\ndeep 140-150 = 150\nmain 110-160\n");
}

TEST(test_unpaired)
{
	struct fixture *f = *state;

	leave(f, 110, DEEP, 8000);
	enter(f, 120, DEEP, 8000);
	leave(f, 130, TEXT, 8000);
	leave(f, 140, DEEP, 8000);
	enter(f, 150, N_FUNCTIONS, 8000);
	assert_calls(f, "deep 120-140 = 140\n");
	assert_int_equal(f->calls.n_unpaired, 2);
	assert_int_equal(f->calls.n_dropped, 1);
}

TEST(test_thread_ends)
{
	struct fixture *f = *state;
	struct rec_exit gone = { .head = { .ts_ns = 200, .kind = REC_EXIT, .tid = 7 } };

	enter(f, 110, MAIN, 9000);
	enter(f, 120, DEEP, 8000);
	assert_int_equal(calls_record(&f->calls, &gone.head), 0);
	leave(f, 210, DEEP, 8000);
	assert_calls(f, "deep 120-200 unwound\nmain 110-200 unwound\n");
	assert_int_equal(f->calls.open_bytes, 0);
}

/* A record can come after later ones of its thread. */
TEST(test_late)
{
	struct fixture *f = *state;

	enter(f, 120, DEEP, 8000);
	enter(f, 110, MAIN, 9000);
	leave(f, 150, MAIN, 9000);
	enter(f, 170, TEXT, 9000);
	leave(f, 160, TEXT, 9000);
	assert_int_equal(calls_close(&f->calls, 190), 0);
	assert_calls(f, "main 110-150\ntext 170-170 = 160\ndeep 120-120 unwound\n");
}

/* Calls that began before the recording, or have not returned at its end. */
TEST(test_edges)
{
	struct fixture *f = *state;

	enter(f, 50, MAIN, 9000);
	enter(f, 60, DEEP, 8000);
	leave(f, 90, DEEP, 8000);
	enter(f, 120, DEEP, 8000);
	f->pipe.to_ns = 300;
	leave(f, 310, DEEP, 8000);
	enter(f, 320, DEEP, 8000);
	assert_int_equal(calls_close(&f->calls, 400), 0);
	assert_calls(f, "deep 120-300 open\nmain 100-300 open\n");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, calls_stage_set_up, calls_stage_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_nested),          CASE(test_recursion),       CASE(test_unwound),
		CASE(test_coroutines),      CASE(test_coroutine_moves), CASE(test_many_threads),
		CASE(test_one_place),       CASE(test_coroutine_stays), CASE(test_coroutine_jumps),
		CASE(test_much_doubt),      CASE(test_turns),           CASE(test_turns_of_two),
		CASE(test_turns_chained),   CASE(test_jump_ends),       CASE(test_jump_back),
		CASE(test_copied_stacks),   CASE(test_tail_call),       CASE(test_left_unseen),
		CASE(test_system_call),     CASE(test_signal_return),   CASE(test_unknown_number),
		CASE(test_unknown_numbers), CASE(test_lost_end),        CASE(test_other_stack),
		CASE(test_unpaired),        CASE(test_thread_ends),     CASE(test_late),
		CASE(test_edges),           CASE(test_any_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
