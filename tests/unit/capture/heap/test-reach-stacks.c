/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unused parts of stacks, of this process. Stacks of a thread of this C library, stacks that
 * the program has provided, and the layout of glibc 2.42: guards within one mapping of several
 * stacks.
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/heap/reach-stacks.h"
#include "tests/support/unit.h"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum {
	PAGE = 4096,
	STACK_BYTES = 1 << 18,
	HEAD_BYTES = 2304,
	STACKS = 4,      /* in one mapping */
	SP_BYTES = 4096, /* in use below a description */
};

static uint64_t ended;
static struct outbuf unused;

static void *end_in_thread(void *argument)
{
	ended = (uint64_t)pthread_self();
	return argument;
}

/* Finds the unused parts, with the given threads. */
static void find(const struct rec_registers *threads, size_t n_threads, const uint64_t *tls,
		 size_t n_ended)
{
	const struct reach_stacks s = {
		.task = getpid(),
		.threads = threads,
		.n_threads = n_threads,
		.ended = tls,
		.n_ended = n_ended,
	};
	struct outbuf roots = { 0 };

	outbuf_reset(&unused);
	assert_int_equal(reach_roots_read(getpid(), &roots), 0);
	assert_int_equal(reach_stacks_find_unused(&s, (const struct root *)roots.data,
						  roots.size / sizeof(struct root), &unused),
			 0);
	outbuf_deinit(&roots);
}

/* Expects N parts, of which part I is this one. */
static void expect(size_t n, size_t i, uint64_t from, uint64_t to, bool is_ended)
{
	const struct reach_unused *part = (const struct reach_unused *)unused.data + i;

	assert_int_equal(unused.size / sizeof(*part), n);
	if (i >= n)
		return;
	assert_int_equal(part->from, from);
	assert_int_equal(part->to, to);
	assert_int_equal(part->is_ended, is_ended);
}

static void run_thread(pthread_attr_t *how)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, how, end_in_thread, NULL), 0);
	pthread_join(thread, NULL);
}

/* The C library keeps the stack. */
TEST(test_ended)
{
	pthread_attr_t how;
	const struct reach_unused *part;

	pthread_attr_init(&how);
	pthread_attr_setstacksize(&how, STACK_BYTES);
	run_thread(&how);
	pthread_attr_destroy(&how);
	find(NULL, 0, &ended, 1);
	part = (const struct reach_unused *)unused.data;
	assert_int_equal(unused.size, sizeof(*part));
	assert_int_equal(part->to, ended);
	assert_in_range(part->to - part->from, STACK_BYTES - 4 * PAGE, STACK_BYTES);
	assert_true(part->is_ended);
}

/* The program can use such a stack for other data, although memory that it protected is below. */
TEST(test_own_stack)
{
	pthread_attr_t how;
	uint8_t *stack =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_int_equal(mprotect(stack, PAGE, PROT_NONE), 0);
	pthread_attr_init(&how);
	pthread_attr_setstack(&how, stack + PAGE, STACK_BYTES - PAGE);
	run_thread(&how);
	pthread_attr_destroy(&how);
	find(NULL, 0, &ended, 1);
	expect(0, 0, 0, 0, false);
	munmap(stack, STACK_BYTES);
}

/* ---- guards within the mapping ---- */

static uint8_t *mapping; /* of STACKS stacks, between mappings without permissions */

static uint64_t stack_from(size_t i)
{
	return (uint64_t)(uintptr_t)mapping + i * STACK_BYTES;
}

static uint64_t tls_of(size_t i)
{
	return stack_from(i) + STACK_BYTES - HEAD_BYTES;
}

/* Writes a description of a stack, with its words at the word AT. */
static void describe(size_t i, size_t at, uint64_t from, uint64_t bytes, uint64_t guard_bytes)
{
	uint64_t *head = (uint64_t *)(uintptr_t)tls_of(i);

	memset(head, 0, HEAD_BYTES);
	head[0] = head[2] = tls_of(i);
	head[at] = from;
	head[at + 1] = bytes;
	head[at + 2] = guard_bytes;
}

static void map_stacks(void)
{
	mapping = mmap(NULL, (STACKS + 2) * STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	assert_true(mapping != MAP_FAILED);
	/* (no guard below: the next mapping is far away) */
	munmap(mapping, STACK_BYTES);
	mapping += STACK_BYTES;
	munmap(mapping + STACKS * STACK_BYTES, STACK_BYTES);
	assert_int_equal(mprotect(mapping, STACKS * STACK_BYTES, PROT_READ | PROT_WRITE), 0);
	for (size_t i = 0; i < STACKS; i++) {
		/* (before 6.13, there is no guard, which makes no difference here) */
		madvise(mapping + i * STACK_BYTES, PAGE, MADV_GUARD_INSTALL);
		describe(i, 200 + i, stack_from(i), STACK_BYTES, PAGE);
	}
}

static void unmap_stacks(void)
{
	munmap(mapping, STACKS * STACK_BYTES);
}

TEST(test_merged)
{
	struct rec_registers threads[2] = { { .tls = 0 } };
	uint64_t tls[2];

	map_stacks();
	tls[0] = tls_of(3);
	tls[1] = tls_of(1);
	find(NULL, 0, tls, 2);
	expect(2, 0, stack_from(1) + PAGE, tls_of(1), true);
	expect(2, 1, stack_from(3) + PAGE, tls_of(3), true);
	/* two running threads, in stacks 0 and 2 */
	for (size_t i = 0; i < 2; i++) {
		threads[i].tls = tls_of(2 * i);
		threads[i].sp = tls_of(2 * i) - SP_BYTES;
	}
	find(threads, 2, tls, 2);
	expect(4, 0, stack_from(0) + PAGE, tls_of(0) - SP_BYTES - 128, false);
	expect(4, 1, stack_from(1) + PAGE, tls_of(1), true);
	expect(4, 2, stack_from(2) + PAGE, tls_of(2) - SP_BYTES - 128, false);
	/* The kernel does not know the stack pointer of a thread that is on a CPU. */
	threads[0].running = 1;
	find(threads, 2, tls, 2);
	expect(3, 0, stack_from(1) + PAGE, tls_of(1), true);
	unmap_stacks();
}

/* A thread runs on the stack, or its stack pointer only is there. */
TEST(test_used)
{
	struct rec_registers thread = { 0 };
	uint64_t tls = tls_of(1);

	map_stacks();
	tls = tls_of(1);
	thread.tls = tls;
	find(&thread, 1, &tls, 1);
	expect(0, 0, 0, 0, false);
	thread.tls = 1;
	thread.sp = stack_from(1) + 2 * PAGE;
	find(&thread, 1, &tls, 1);
	expect(0, 0, 0, 0, false);
	thread.sp = stack_from(0) + 2 * PAGE;
	find(&thread, 1, &tls, 1);
	expect(1, 0, stack_from(1) + PAGE, tls_of(1), true);
	unmap_stacks();
}

/* Descriptions that do not agree with the mapping; and a running thread without one. */
TEST(test_wrong)
{
	static const struct {
		int64_t from, bytes, guard_bytes;
	} rows[] = {
		{ -(STACKS + 1) * (int64_t)STACK_BYTES, (STACKS + 2) * STACK_BYTES, PAGE },
		{ 0, STACK_BYTES - HEAD_BYTES, PAGE },
		{ 0, (STACKS - 1) * STACK_BYTES + 1, PAGE },
		{ 0, STACK_BYTES, 0 },
		{ 0, STACK_BYTES, STACK_BYTES },
		{ 0, -1, PAGE },
		{ STACK_BYTES, STACK_BYTES, PAGE },
	};
	struct rec_registers thread = { 0 };
	uint64_t tls;

	map_stacks();
	tls = tls_of(1);
	thread.tls = tls;
	thread.sp = tls - SP_BYTES;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		describe(1, 210, stack_from(1) + (uint64_t)rows[i].from, (uint64_t)rows[i].bytes,
			 (uint64_t)rows[i].guard_bytes);
		find(NULL, 0, &tls, 1);
		expect(0, 0, 0, 0, false);
		find(&thread, 1, NULL, 0);
		/* (the program has provided the stack of a running thread) */
		expect(rows[i].guard_bytes == 0, 0, stack_from(1), thread.sp - 128, false);
	}
	unmap_stacks();
}

/* The guard is a mapping: of a thread without a description, as other C libraries make it. */
TEST(test_guard_below)
{
	struct rec_registers thread = { 0 };
	uint64_t tls;

	map_stacks();
	tls = thread.tls = tls_of(3);
	thread.sp = tls - SP_BYTES;
	assert_int_equal(mprotect(mapping + 3 * STACK_BYTES, PAGE, PROT_NONE), 0);
	find(NULL, 0, &tls, 1);
	expect(1, 0, stack_from(3) + PAGE, tls, true);
	describe(3, 0, tls, 0, tls);
	find(NULL, 0, &tls, 1);
	expect(0, 0, 0, 0, false);
	find(&thread, 1, NULL, 0);
	expect(1, 0, stack_from(3) + PAGE, thread.sp - 128, false);
	unmap_stacks();
}

static int tear_down(void **state)
{
	(void)state;
	outbuf_deinit(&unused);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ended),  cmocka_unit_test(test_own_stack),
		cmocka_unit_test(test_merged), cmocka_unit_test(test_used),
		cmocka_unit_test(test_wrong),  cmocka_unit_test(test_guard_below),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
