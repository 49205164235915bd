/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include "capture/stages/contexts.h"
#include "tests/support/unit.h"

TEST(test_bits)
{
	struct contexts c = { 0 };
	const char *name = NULL;
	uint32_t bit = 0;

	assert_int_equal(contexts_begin(&c, "one", &bit), 0);
	assert_int_equal(bit, 1);
	assert_int_equal(contexts_begin(&c, "two", &bit), 0);
	assert_int_equal(bit, 2);
	assert_int_equal(c.open, 3);
	assert_int_equal(contexts_begin(&c, "one", &bit), -EEXIST);
	assert_int_equal(contexts_end(&c, 1, &name), 0);
	assert_string_equal(name, "one");
	assert_int_equal(c.open, 2);
	assert_int_equal(contexts_end(&c, 1, &name), -ENOENT);
	/* A name keeps its bit. */
	assert_int_equal(contexts_begin(&c, "one", &bit), 0);
	assert_int_equal(bit, 1);
	assert_int_equal(contexts_end(&c, 0, &name), -ENOENT);
	assert_int_equal(contexts_end(&c, 3, &name), -ENOENT);
	assert_int_equal(contexts_end(&c, 4, &name), -ENOENT);
}

TEST(test_limits)
{
	struct contexts c = { 0 };
	const char *last = NULL;
	uint32_t bit = 0;
	char name[16];

	assert_int_equal(contexts_begin(&c, "", &bit), -EINVAL);
	assert_int_equal(contexts_begin(&c, "a b", &bit), -EINVAL);
	for (unsigned i = 0; i < CONTEXTS_MAX; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		assert_int_equal(contexts_begin(&c, name, &bit), 0);
	}
	assert_int_equal(bit, UINT32_C(1) << 31);
	assert_int_equal(contexts_begin(&c, "another", &bit), -EDQUOT);
	assert_int_equal(contexts_end(&c, UINT32_C(1) << 31, &last), 0);
	assert_string_equal(last, "c31");
	assert_int_equal(contexts_begin(&c, "another", &bit), -EDQUOT);
	assert_int_equal(contexts_begin(&c, "c31", &bit), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
