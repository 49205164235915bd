/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stack of an ended thread, which the program has provided: of this process. */
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/outbuf.h"
#include "capture/heap/reach-stacks.h"
#include "tests/support/unit.h"

enum { PAGE = 4096, STACK_BYTES = 1 << 18 };

static uint64_t ended;

static void *end_in_thread(void *unused)
{
	ended = (uint64_t)pthread_self();
	return unused;
}

/* The program can use such a stack for other data, although memory that it protected is below. */
TEST(test_own_stack)
{
	struct reach_stacks s = { .task = getpid(), .ended = &ended, .n_ended = 1 };
	struct outbuf roots = { 0 };
	const struct root *list;
	pthread_attr_t how;
	pthread_t thread;
	uint8_t *stack =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_int_equal(mprotect(stack, PAGE, PROT_NONE), 0);
	pthread_attr_init(&how);
	pthread_attr_setstack(&how, stack + PAGE, STACK_BYTES - PAGE);
	assert_int_equal(pthread_create(&thread, &how, end_in_thread, NULL), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&how);
	assert_int_equal(reach_roots_read(getpid(), &roots), 0);
	list = (const struct root *)roots.data;
	for (size_t i = 1; i < roots.size / sizeof(*list); i++)
		if (ended >= list[i].from && ended < list[i].to)
			assert_int_equal(reach_stacks_begin(&s, list, i), list[i].from);
	outbuf_deinit(&roots);
	munmap(stack, STACK_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_own_stack) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
