/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mapping that a process had at a time, from the reports of all processes.
 */
#include <stdlib.h>

#include "capture/unwind/unwind-seen.h"
#include "tests/support/unit.h"

enum { PID = 500, DEVICE = 7, PAGE = 1 << UNWIND_PAGE_SHIFT };

struct fixture {
	struct unwind_seen seen;
	struct unwind_file files[UNWIND_FILES_MAX];
};

/* File number N has inode 1000 + N. */
FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	unwind_seen_init(&f->seen);
	for (uint32_t i = 1; i < 10; i++) {
		f->files[i].inode = 1000 + i;
		f->files[i].device = DEVICE;
	}
	*state = f;
	return 0;
}

FIXTURE(tear_down)
{
	struct fixture *f = *state;

	unwind_seen_deinit(&f->seen);
	free(f);
	return 0;
}

/* PID maps FILE (0 = none) to page 100. */
static void map(struct fixture *f, uint64_t ts_ns, uint32_t pid, uint32_t file)
{
	unwind_seen_add(&f->seen, &(struct unwind_seen_mapping){
					  .ts_ns = ts_ns,
					  .start = 100 * PAGE,
					  .end = 101 * PAGE,
					  .file_offset = 5 * PAGE,
					  .inode = file ? 1000 + file : 0,
					  .device = DEVICE,
					  .pid = pid,
				  });
}

static void begin(struct fixture *f, uint64_t ts_ns, uint32_t pid, uint32_t parent)
{
	unwind_seen_begin(&f->seen, &(struct unwind_seen_begin){ ts_ns, pid, parent });
}

/* The file of PID there; 0 = unknown. */
static uint32_t file_at(struct fixture *f, uint64_t ts_ns, uint32_t pid)
{
	struct unwind_mapping m;

	if (!unwind_seen_find(&f->seen, f->files, pid, 100 * PAGE + 1, ts_ns, &m))
		return 0;
	assert_int_equal(m.where, UNWIND_WHERE(100, 1));
	assert_int_equal(m.file_page, 5);
	return m.file;
}

TEST(test_latest)
{
	struct fixture *f = *state;
	struct unwind_mapping m;

	assert_int_equal(file_at(f, 10, PID), 0);
	map(f, 10, PID, 1);
	map(f, 30, PID, 3);
	map(f, 20, PID, 2); /* (by another CPU) */
	map(f, 25, PID + 1, 4);
	map(f, 40, PID, 0);
	assert_int_equal(file_at(f, 9, PID), 0);
	assert_int_equal(file_at(f, 10, PID), 1);
	assert_int_equal(file_at(f, 29, PID), 2);
	assert_int_equal(file_at(f, 39, PID), 3);
	assert_int_equal(file_at(f, 99, PID), UNWIND_FILE_NONE);
	assert_int_equal(file_at(f, 99, PID + 1), 4);
	assert_false(unwind_seen_find(&f->seen, f->files, PID, 101 * PAGE, 99, &m));
	/* two numbers, or none */
	f->files[9].inode = 1001;
	assert_int_equal(file_at(f, 10, PID), 0);
	f->files[2].device++;
	assert_int_equal(file_at(f, 20, PID), 0);
}

/* Each replaces the oldest one, also of other processes, and no more processes are known. */
TEST(test_bounded)
{
	struct fixture *f = *state;

	map(f, 10, PID, 1);
	map(f, 20, PID + 1, 2);
	map(f, 30, PID, 3);
	for (uint32_t i = 3; i < UNWIND_SEEN_MAX; i++)
		map(f, 40, PID + i, 4);
	assert_int_equal(file_at(f, 15, PID), 1);
	map(f, 50, PID + 2, 5);
	assert_int_equal(file_at(f, 15, PID), 0);
	assert_int_equal(file_at(f, 99, PID), 3);
	assert_int_equal(file_at(f, 99, PID + 1), 2);
	map(f, 50, PID + 2, 6);
	assert_int_equal(file_at(f, 99, PID + 1), 0);
	assert_int_equal(file_at(f, 99, PID), 3);
	for (uint32_t i = 0; i < 3 * UNWIND_SEEN_MAX; i++)
		map(f, 60, 100000 + i, 7);
	assert_int_equal(f->seen.last.n_used, UNWIND_SEEN_MAX);
	assert_int_equal(file_at(f, 99, PID), 0);
	assert_int_equal(file_at(f, 99, 100000 + 3 * UNWIND_SEEN_MAX - 1), 7);
	for (uint32_t i = 0; i < 2 * UNWIND_SEEN_MAX; i++)
		map(f, 70, PID, 8);
	assert_int_equal(f->seen.last.n_used, 1);
	assert_int_equal(file_at(f, 99, PID), 8);
}

/* A child has the mappings of its parent before the fork, but not those after it. */
TEST(test_fork)
{
	struct fixture *f = *state;

	map(f, 5, PID + 1, 9); /* of an earlier process with the child's id */
	map(f, 10, PID, 1);
	begin(f, 20, PID + 1, PID);
	begin(f, 30, PID + 2, PID + 1);
	map(f, 40, PID, 2);
	assert_int_equal(file_at(f, 50, PID), 2);
	assert_int_equal(file_at(f, 50, PID + 1), 1);
	assert_int_equal(file_at(f, 50, PID + 2), 1);
	assert_int_equal(file_at(f, 19, PID + 1), 9);
	map(f, 35, PID + 1, 3);
	assert_int_equal(file_at(f, 50, PID + 1), 3);
	assert_int_equal(file_at(f, 50, PID + 2), 1);
	/* ids that follow each other have no end */
	begin(f, 60, PID + 3, PID + 4);
	begin(f, 60, PID + 4, PID + 3);
	assert_int_equal(file_at(f, 70, PID + 3), 0);
}

/* After exec, all earlier mappings are gone. */
TEST(test_exec)
{
	struct fixture *f = *state;

	map(f, 10, PID, 1);
	begin(f, 20, PID + 1, PID);
	begin(f, 30, PID + 1, 0);
	assert_int_equal(file_at(f, 29, PID + 1), 1);
	assert_int_equal(file_at(f, 30, PID + 1), 0);
	map(f, 30, PID + 1, 2);
	begin(f, 40, PID, 0);
	assert_int_equal(file_at(f, 50, PID + 1), 2);
	assert_int_equal(file_at(f, 50, PID), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_latest, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fork, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_exec, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
