/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/unit.h"
#include "model/frames.h"

static void add(struct frames *f, uint32_t process, uint64_t address, uint32_t depth,
		const char *function)
{
	const struct event ev = { .kind = EVENT_FRAME,
				  .frame = { process, depth, address, function, "s.c", "", 5 } };

	assert_int_equal(frames_add(f, &ev), 0);
}

TEST(test_add)
{
	_cleanup_(frames_freep) struct frames *f = NULL;
	const struct frame_list *found;

	assert_int_equal(frames_new(&f, 10), 0);
	assert_null(frames_find(f, 1, 0x10));
	add(f, 1, 0x10, 2, "main");
	add(f, 1, 0x10, 0, "inner");
	add(f, 1, 0x10, 1, "first");
	add(f, 1, 0x10, 1, "outer");
	add(f, 2, 0x10, 0, "other");
	add(f, 1, 0x11, 0, "main");
	found = frames_find(f, 1, 0x10);
	assert_non_null(found);
	assert_int_equal(found->n, 3);
	assert_string_equal(found->list[0].function, "inner");
	assert_string_equal(found->list[1].function, "outer");
	assert_string_equal(found->list[2].function, "main");
	assert_string_equal(found->list[2].source, "s.c");
	assert_string_equal(found->list[2].module, "");
	assert_int_equal(found->list[2].line, 5);
	assert_string_equal(frames_find(f, 2, 0x10)->list[0].function, "other");
	assert_null(frames_find(f, 2, 0x11));
	/* Equal texts are stored once. */
	assert_ptr_equal(found->list[2].function, frames_find(f, 1, 0x11)->list[0].function);
}

TEST(test_limit)
{
	_cleanup_(frames_freep) struct frames *f = NULL;

	assert_int_equal(frames_new(&f, 2), 0);
	add(f, 1, 1, 0, "a");
	add(f, 1, 2, 0, "b");
	add(f, 1, 3, 0, "c");
	add(f, 1, 2, 1, "d");
	assert_null(frames_find(f, 1, 3));
	assert_int_equal(frames_find(f, 1, 2)->n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
