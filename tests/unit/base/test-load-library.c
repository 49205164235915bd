/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "base/load-library.h"
#include "tests/support/unit.h"

struct functions {
	double (*cosine)(double);
	double (*root)(double);
};

#define FUNCTIONS(second)                                                                          \
	{                                                                                          \
		{ "cos", offsetof(struct functions, cosine) },                                     \
		{                                                                                  \
			(second), offsetof(struct functions, root)                                 \
		}                                                                                  \
	}

static const struct library_function good[] = FUNCTIONS("sqrt");
static const struct library_function bad[] = FUNCTIONS("kymo_no_such_function");

static bool is_empty(const struct functions *f)
{
	return !f->cosine && !f->root;
}

TEST(test_load)
{
	struct functions f = { 0 };

	assert_int_equal(load_library("libm.so.6", good, ARRAY_SIZE(good), &f), 0);
	assert_true(f.cosine(0) == 1);
	assert_true(f.root(9) == 3);
}

TEST(test_missing_library)
{
	struct functions f = { 0 };

	assert_int_equal(load_library("libkymo-none.so.1", good, ARRAY_SIZE(good), &f), -ENOPKG);
	assert_true(is_empty(&f));
}

/* A failure does not prevent a later success. */
TEST(test_missing_function)
{
	struct functions f = { 0 };

	assert_int_equal(load_library("libm.so.6", bad, ARRAY_SIZE(bad), &f), -ENOPKG);
	assert_true(is_empty(&f));
	assert_int_equal(load_library("libm.so.6", good, ARRAY_SIZE(good), &f), 0);
	assert_true(f.root(4) == 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_missing_library),
		cmocka_unit_test(test_missing_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
