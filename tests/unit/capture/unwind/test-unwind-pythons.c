/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Versions of Python that walks have passed stay known when their files get other tables.
 */
#include <stdlib.h>

#include "capture/unwind/unwind-pythons.h"
#include "tests/support/unit.h"

enum { VERSION = 0x030c01f0, OTHER = 0x030d02f0 };

struct fixture {
	struct unwind_pythons pythons;
	struct unwind_file files[UNWIND_FILES_MAX];
	uint32_t versions[UNWIND_PYTHONS_MAX];
};

FIXTURE(set_up)
{
	*state = calloc(1, sizeof(struct fixture));
	assert_non_null(*state);
	return 0;
}

FIXTURE(tear_down)
{
	free(*state);
	return 0;
}

/* File NUMBER gets a table with VERSION; 0 = without an interpreter. */
static void put(struct fixture *f, uint32_t number, uint32_t version)
{
	unwind_pythons_collect(&f->pythons, f->files, number);
	f->files[number].python.passed = 0;
	if (version)
		unwind_pythons_add(&f->pythons, number, version);
}

static unsigned list(struct fixture *f)
{
	return unwind_pythons_list(&f->pythons, f->files, f->versions, UNWIND_PYTHONS_MAX);
}

TEST(test_passed)
{
	struct fixture *f = *state;

	put(f, 3, VERSION);
	put(f, 4, OTHER);
	assert_int_equal(list(f), 0);
	f->files[4].python.passed = 1;
	assert_int_equal(list(f), 1);
	assert_int_equal(f->versions[0], OTHER);
	/* no interpreter whose layout is unknown */
	put(f, 5, 0);
	f->files[5].python.passed = 1;
	assert_int_equal(list(f), 1);
	f->files[3].python.passed = 1;
	assert_int_equal(list(f), 2);
	assert_int_equal(unwind_pythons_list(&f->pythons, f->files, f->versions, 1), 1);
}

/* The number gets the table again, and then belongs to other files. */
TEST(test_put_again)
{
	struct fixture *f = *state;

	put(f, 3, VERSION);
	f->files[3].python.passed = 1;
	put(f, 3, VERSION);
	assert_int_equal(list(f), 1);
	put(f, 3, OTHER);
	assert_int_equal(list(f), 1);
	assert_int_equal(f->versions[0], VERSION);
	put(f, 3, 0);
	f->files[3].python.passed = 1;
	assert_int_equal(list(f), 1);
}

/* Many files have one version. Another one is still said. */
TEST(test_many_files)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 100; i++)
		put(f, i, VERSION);
	put(f, 100, OTHER);
	f->files[50].python.passed = f->files[100].python.passed = 1;
	assert_int_equal(list(f), 2);
	for (uint32_t i = 0; i < 100; i++)
		put(f, i, 0x01000000 * (i + 4));
	assert_int_equal(list(f), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_passed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_put_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many_files, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
