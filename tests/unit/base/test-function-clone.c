/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/cleanup.h"
#include "base/function-clone.h"
#include "tests/support/unit.h"

TEST(test_names)
{
	static const struct {
		const char *name, *base;
		bool is_clone, changed;
	} rows[] = {
		{ "f", "f", false, false },
		{ "", "", false, false },
		{ "f.constprop.0", "f", true, true },
		{ "f.isra.12", "f", true, true },
		{ "f.part.0.isra.0", "f", true, true },
		{ "f.lto_priv.0", "f", true, false },
		{ "f.lto_priv.0.constprop.1", "f", true, true },
		{ "f.llvm.123456789", "f", true, false },
		{ "_ZN1a1fEi.constprop.0", "_ZN1a1fEi", true, true },
		{ "f.cold", "f.cold", false, false },
		{ "f.partial", "f.partial", false, false },
		{ "f.3", "f.3", false, false },
		{ ".isra.0", ".isra.0", false, false },
		{ "f.isra", "f", true, true },
		{ "f.", "f.", false, false },
	};

	bool arguments, result;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(function_clone_base(rows[i].name), strlen(rows[i].base));
		assert_int_equal(function_clone_is_of(rows[i].name, rows[i].base),
				 rows[i].is_clone);
		assert_int_equal(function_clone_is_changed(rows[i].name), rows[i].changed);
		function_clone_changes(rows[i].name, &arguments, &result);
		assert_int_equal(arguments, rows[i].changed);
		assert_int_equal(result, strstr(rows[i].base, "isra") == NULL &&
						 (strstr(rows[i].name, ".isra") ||
						  strstr(rows[i].name, ".part.")));
	}
	assert_true(function_clone_is_cold("f.cold"));
	assert_true(function_clone_is_cold("f.cold.12"));
	assert_true(function_clone_is_cold("f.constprop.0.cold"));
	assert_true(function_clone_is_cold("f.colder.cold"));
	assert_false(function_clone_is_cold("f"));
	assert_false(function_clone_is_cold("f.colder"));
	assert_false(function_clone_is_cold(".cold"));
	assert_true(function_clone_is_resolver("f.resolver"));
	assert_false(function_clone_is_resolver(".resolver"));
	assert_false(function_clone_is_resolver("f.resolver.x"));
	assert_false(function_clone_is_resolver("resolver"));
	assert_false(function_clone_is_of("f.constprop.0.cold", "f"));
	assert_false(function_clone_is_of("ff.isra.0", "f"));
	assert_false(function_clone_is_of("f.isra.0", "ff"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
