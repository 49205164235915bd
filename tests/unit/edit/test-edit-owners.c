/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Owners of koids on a machine: the koid that a later archive's koid is mapped to, and the limits.
 */
#include <string.h>

#include "edit/edit-owners.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/unit.h"

enum { INPUTS = 3 };

#define LATER(n, tid) ((uint64_t)(n) << FXT_KOID_TID_BITS | (tid))

static struct edit_owners *o;

FIXTURE(setup)
{
	return edit_owners_new(&o, INPUTS);
}

FIXTURE(teardown)
{
	o = edit_owners_free(o);
	return 0;
}

/* Adds the objects of SOURCE, which is freed, as those of INPUT. */
static void see(unsigned input, struct source *source)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	const struct fxt_record *record;

	OK(fxt_reader_new_memory(&reader, source->bytes.data, source->bytes.size));
	while (fxt_reader_next(reader, &record) == FXT_READER_RECORD)
		OK(edit_owners_see(o, input, record));
	source_deinit(source);
}

/* INPUT contains that KOID began at START_NS. */
static void see_start(unsigned input, uint64_t koid, uint64_t start_ns)
{
	struct source s;

	source_init(&s);
	put_task_since(&s, koid, "task", start_ns);
	see(input, &s);
}

/* INPUT contains only that thread TID belongs to process PID. */
static void see_thread(unsigned input, uint64_t pid, uint64_t tid)
{
	struct source s;

	source_init(&s);
	put_thread(&s, pid, tid, "thread");
	see(input, &s);
}

static void join_all(uint64_t span)
{
	for (unsigned i = 0; i < INPUTS; i++)
		OK(edit_owners_join(o, i, 0, span));
}

static uint64_t moved(unsigned input)
{
	return edit_owners_counts(o, input)->moved;
}

static uint64_t shared(unsigned input)
{
	return edit_owners_counts(o, input)->shared;
}

TEST(test_one_owner)
{
	see_start(0, 5, 100);
	see_start(1, 5, 100);
	join_all(0);
	see_start(2, 5, 100);
	for (unsigned i = 0; i < INPUTS; i++) {
		assert_int_equal(edit_owners_koid(o, i, 5), 5);
		assert_int_equal(moved(i) + shared(i), 0);
	}
}

/* An archive with both owners: the koids of other archives match one of them. */
TEST(test_owners_of_one_archive)
{
	see_start(0, 5, 100);
	see_start(0, LATER(2, 5), 200);
	see_start(1, 5, 200);
	join_all(0);
	see_start(1, LATER(2, 5), 300);
	see_start(2, 5, 300);
	see_start(2, LATER(2, 5), 400);
	assert_int_equal(edit_owners_koid(o, 0, 5), 5);
	assert_int_equal(edit_owners_koid(o, 0, LATER(2, 5)), LATER(2, 5));
	assert_int_equal(edit_owners_koid(o, 1, 5), LATER(2, 5));
	assert_int_equal(edit_owners_koid(o, 1, LATER(2, 5)), LATER(3, 5));
	assert_int_equal(edit_owners_koid(o, 2, 5), LATER(3, 5));
	assert_int_equal(edit_owners_koid(o, 2, LATER(2, 5)), LATER(4, 5));
	assert_int_equal(moved(0), 0);
	assert_int_equal(moved(1), 2);
	assert_int_equal(moved(2), 2);
}

/* A koid that is used without an object is not free. */
TEST(test_named_is_not_free)
{
	see_start(0, 5, 100);
	join_all(0);
	assert_int_equal(edit_owners_koid(o, 0, LATER(2, 5)), LATER(2, 5));
	see_start(1, 5, 200);
	assert_int_equal(edit_owners_koid(o, 1, 5), LATER(3, 5));
}

/* Without a start time, the process decides. If there is only a name, it is the same owner. */
TEST(test_without_start)
{
	struct source s;

	see_thread(0, 20, 21);
	see_start(0, 30, 100);
	see_thread(0, 30, 31);
	join_all(0);
	see_thread(1, 20, 21);
	assert_int_equal(edit_owners_koid(o, 1, 21), 21);
	see_thread(2, 22, 21);
	assert_int_equal(edit_owners_koid(o, 2, 21), LATER(2, 21));

	/* Its process is another one with the same id. */
	see_start(1, 30, 200);
	see_thread(1, 30, 31);
	assert_int_equal(edit_owners_koid(o, 1, 30), LATER(2, 30));
	assert_int_equal(edit_owners_koid(o, 1, 31), LATER(2, 31));

	source_init(&s);
	put_process(&s, 30, "renamed", 0);
	see(2, &s);
	assert_int_equal(edit_owners_koid(o, 2, 30), 30);
}

/* A koid that was written keeps its owner. */
TEST(test_too_late)
{
	see_start(0, 5, 100);
	join_all(0);
	assert_int_equal(edit_owners_koid(o, 1, 5), 5);
	see_start(1, 5, 200);
	assert_int_equal(edit_owners_koid(o, 1, 5), 5);
	assert_int_equal(shared(1), 1);
	assert_int_equal(moved(1), 0);
}

TEST(test_machines)
{
	for (unsigned i = 0; i < INPUTS; i++) {
		see_start(i, 5, 100 + i);
		OK(edit_owners_join(o, i, i, UINT64_C(1) << 30));
		assert_int_equal(edit_owners_koid(o, i, 5), 5);
		assert_int_equal(moved(i) + shared(i), 0);
	}
}

/* Koids run out: after the last one of a tid, or of the machine. */
TEST(test_no_more)
{
	for (unsigned n = 1; n <= FXT_KOID_REUSE_LAST; n++)
		see_start(0, n == 1 ? 5 : LATER(n, 5), 100 + n);
	OK(edit_owners_join(o, 0, 0, 0));
	OK(edit_owners_join(o, 1, 0, 0));
	see_start(1, 5, 50);
	assert_int_equal(edit_owners_koid(o, 1, 5), 5);
	assert_int_equal(shared(1), 1);
	assert_int_equal(moved(0) + shared(0) + moved(1), 0);
}

TEST(test_narrow_machine)
{
	for (unsigned i = 0; i < INPUTS; i++)
		see_start(i, 5, 100 + i);
	join_all(UINT64_C(3) << FXT_KOID_TID_BITS);
	assert_int_equal(edit_owners_koid(o, 1, 5), LATER(2, 5));
	assert_int_equal(edit_owners_koid(o, 2, 5), 5);
	assert_int_equal(moved(1), 1);
	assert_int_equal(shared(2), 1);
}

/* Pseudo-threads, idle, and koids of more than 32 bits have no owner in the kernel. */
TEST(test_not_tracked)
{
	static const uint64_t koids[] = { 0, FXT_KOID_KYMO, FXT_KOID_OTHER + 1, UINT64_MAX,
					  UINT64_C(5) << 32 };

	join_all(0);
	for (size_t i = 0; i < ARRAY_SIZE(koids); i++) {
		see_start(0, koids[i], 100);
		see_start(1, koids[i], 200);
		assert_int_equal(edit_owners_koid(o, 1, koids[i]), koids[i]);
		assert_false(edit_owners_knows(o, 1, koids[i], 0));
	}
	assert_int_equal(moved(1) + shared(1), 0);
}

/* A program's own archive does not distinguish owners. */
TEST(test_programs)
{
	struct source s;

	see_start(0, 5, 100);
	join_all(0);
	source_init(&s);
	as_app(&s);
	put_task_since(&s, 5, "program", 200);
	see(1, &s);
	assert_int_equal(edit_owners_koid(o, 1, 5), 5);
	assert_true(edit_owners_knows(o, 1, 5, 0));
	assert_true(edit_owners_knows(o, 1, 5, 2));
	assert_false(edit_owners_knows(o, 1, 5, 3));
	assert_false(edit_owners_knows(o, 1, 6, 0));
	assert_int_equal(shared(1), 0);
}

#define OWNERS_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWNERS_TEST(test_one_owner),         OWNERS_TEST(test_owners_of_one_archive),
		OWNERS_TEST(test_named_is_not_free), OWNERS_TEST(test_without_start),
		OWNERS_TEST(test_too_late),          OWNERS_TEST(test_machines),
		OWNERS_TEST(test_no_more),           OWNERS_TEST(test_narrow_machine),
		OWNERS_TEST(test_not_tracked),       OWNERS_TEST(test_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
